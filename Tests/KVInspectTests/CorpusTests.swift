import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// Every real memo through the real program and back, byte for byte.
@Suite(.serialized) struct CorpusTests {
  private static let english = Corpus.path("memos-en.jsonl.gz")
  private static let japanese = Corpus.path("memos-ja.jsonl.gz")

  @Test(
    .enabled(if: Corpus.exists(japanese), "needs ../shared/data/memos-ja.jsonl.gz"),
    .enabled(if: Thoroughness.isLarge, "takes minutes without optimisation"))
  func japaneseMemosComeBack() throws {
    try check(Self.japanese, count: 40_259)
  }

  @Test(
    .enabled(if: Corpus.exists(english), "needs ../shared/data/memos-en.jsonl.gz"),
    .enabled(if: Thoroughness.isLarge, "takes minutes without optimisation"))
  func englishMemosComeBack() throws {
    try check(Self.english, count: 264_401)
  }

  private func check(_ path: String, count: Int) throws {
    let store = try TestStore()
    let script = #"zcat "$2" | "$0" import "$1" -"#
    let first = try Executable.shell(script, store.path, path)
    #expect(first.status == 0 && first.errors.isEmpty)
    #expect(first.outputText == "\(count) new\n")

    let memos = try Corpus.memos(path)
    #expect(memos.count == count)
    // Newest first; of equal instants the later line first.
    let expected = memos.indices.sorted { left, right in
      let times = (memos[left].createdAt.microseconds, memos[right].createdAt.microseconds)
      return times.0 == times.1 ? left > right : times.0 > times.1
    }
    try expectScan(of: store, memos, expected)
    let latest = try Executable.run("latest", store.path, "300", "--json")
    #expect(try Corpus.memos(in: latest.output) == expected.prefix(300).map { memos[$0] })

    let second = try Executable.shell(script, store.path, path)
    #expect(second.status == 0)
    #expect(second.outputText == "\(count) there already\n")
    try expectScan(of: store, memos, expected)
    let summary = try Executable.run("summary", store.path)
    #expect(summary.outputLines.first == "memos       \(count)")
  }

  private func expectScan(of store: TestStore, _ memos: [Memo], _ order: [Int]) throws {
    let scan = try Executable.run("scan", store.path, "--json")
    #expect(scan.status == 0 && scan.errors.isEmpty)
    let scanned = try Corpus.memos(in: scan.output)
    #expect(scanned.count == order.count)
    let differing = zip(scanned, order).first { $0 != memos[$1] }
    #expect(differing == nil)
  }
}
