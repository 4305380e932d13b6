import KVTestSupport
import Testing

@testable import KVEngine

/// Files that are shorter than they should be: right data or an error, never a trap.
@Suite struct EveryPrefixTests {
  private static let partCount = 6

  @Test(.bug(id: "B62"), arguments: 0..<partCount)
  func aShortFileIsRightOrDamaged(part: Int) throws {
    let store = try SmallStore()
    var (caseCount, failureCount) = (0, 0)
    for (name, bytes) in try store.files.storeFiles().sorted(by: { $0.key < $1.key }) {
      for count in Thoroughness.part(of: 0..<bytes.count, step: 41, offset: part)
      where count % Self.partCount == part {
        caseCount += 1
        do {
          try check(store, name, bytes, cutTo: count)
        } catch {
          Issue.record("\(name) cut to \(count) of \(bytes.count) bytes: \(error)")
          failureCount += 1
          if failureCount == 5 { return }
        }
      }
    }
    ProofTally.count("T5", "cases", caseCount)
  }

  private func check(
    _ store: SmallStore, _ name: String, _ bytes: [UInt8], cutTo count: Int
  ) throws {
    let path = TinyStore.path + "/" + name
    let files = try store.files.replacing(path, with: Array(bytes.prefix(count)))
    let isLog = FileName(name) == .log(store.logNumber)
    let allowed = (isLog ? store.flushedIndex : store.lastIndex)...store.lastIndex
    switch (try store.read(files, allowed: allowed), FileName(name)) {
    case (.state(let index), .log) where isLog:
      let expected = store.flushedIndex + store.recordEnds.count { $0 <= count }
      guard index == expected, count >= LogFormat.headByteCount else {
        throw Problem("opens as state \(index) instead of \(expected)")
      }
      try store.use(files, at: index)
    case (.damaged, .log) where isLog:
      guard count < LogFormat.headByteCount else { throw Problem("is damaged") }
    case (.state, .segment(let number)) where store.segmentNumbers.contains(number):
      throw Problem("a short segment goes unnoticed")
    case (.damaged, .segment(let number)) where store.segmentNumbers.contains(number):
      break
    case (.state(let index), .manifest), (.state(let index), .oldManifest),
      (.state(let index), .log), (.state(let index), .lock), (.state(let index), .segment),
      (.state(let index), .reserve):
      try store.use(files, at: index)
    // The MANIFEST in force has a second name.
    case (.damaged, .manifest), (.damaged, .oldManifest(store.generation)):
      break
    default:
      throw Problem("does not open although nothing that it needs is missing")
    }
  }
}
