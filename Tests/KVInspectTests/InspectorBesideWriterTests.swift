import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Synchronization
import Testing

@testable import KVInspectCore

/// Commands beside a writer that flushes and compacts all the time.
///
/// T13 of the test plan: no damage is ever reported, and nothing is in the way of the writer.
@Suite struct InspectorBesideWriterTests {
  /// Commits without a pause until it is told to stop.
  private final class BusyWriter: Sendable {
    private let timeline: MemoTimeline
    private let isStopped = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)
    private let failure = Mutex<(any Error)?>(nil)

    /// Makes the store; for one that hurries every look at the clock finds an hour gone, so that
    /// replaced files are removed at once instead of after ten minutes.
    init(_ store: TestStore, hurries: Bool) throws {
      var options = DatabaseOptions()
      options.logByteCount = 4 << 10
      options.segmentByteCount = 16 << 10
      options.zeroStepByteCount = 4 << 10
      if hurries {
        let clock = Clock()
        options.wallClock = { clock.next() }
      }
      timeline = try MemoTimeline(at: store.path, options: options)
      // Never written again: what the commands look for.
      _ = try timeline.importBatch([memo(MemoID(1000), at: 1, "first")])
    }

    private final class Clock: Sendable {
      private let now = Atomic<Int64>(1_700_000_000_000_000)

      func next() -> Int64 { now.add(3_600_000_000, ordering: .relaxed).newValue }
    }

    func start() {
      Thread.detachNewThread { [self] in
        var second = 10
        do {
          // The same ids again and again, each time later: the store stays small.
          while !isStopped.load(ordering: .relaxed) {
            let batch = (0..<20).map { position in
              memo(
                MemoID(Int64((second + position) % 300)), at: Int64(second), "\(secret) \(second)")
            }
            _ = try timeline.importBatch(batch)
            if second % 3 == 0 { _ = try timeline.delete(MemoID(Int64(second % 290 + 5))) }
            second += 20
          }
          try timeline.close()
        } catch {
          failure.withLock { $0 = error }
        }
        ended.signal()
      }
    }

    /// Whether files have come and gone often enough.
    var hasDoneEnough: Bool {
      get throws {
        let statistics = try timeline.database.statistics()
        return statistics.flushCount > 10 && statistics.compactionCount > 3
      }
    }

    /// Lets the thread end, at once or soon.
    func tellToStop() {
      isStopped.store(true, ordering: .relaxed)
    }

    /// Ends the writing.
    func stop() throws {
      tellToStop()
      ended.wait()
      if let failure = failure.withLock({ $0 }) { throw failure }
    }
  }

  private static let commands: [[String]] = [
    ["segments"], ["log"], ["manifest"], ["space"], ["find", "1000"],
    ["find", "0x00", "--space", "memos"],
  ]
  /// They read from files that the ten minutes keep.
  private static let slow: [[String]] = [
    ["summary"], ["latest", "20"], ["get", "1000"], ["scan"], ["verify"],
  ]

  @Test(.bug(id: "B52"), arguments: [false, true])
  func everyReadingCommandIsFine(hurries: Bool) throws {
    let store = try TestStore()
    let writer = try BusyWriter(store, hurries: hurries)
    writer.start()
    defer { writer.tellToStop() }
    var names: Set<String> = []
    let commands = hurries ? Self.commands : Self.commands + Self.slow
    let leastRoundCount = hurries ? 25 : 12
    let mostRoundCount = Thoroughness.count(quick: 500, push: 500, nightly: 5000)
    var (round, openCount) = (0, 0)
    while try round < leastRoundCount * (Thoroughness.current == .nightly ? 30 : 1)
      || !writer.hasDoneEnough, round < mostRoundCount
    {
      round += 1
      for command in commands {
        let words =
          [command[0], store.path] + command.dropFirst() + (round % 2 == 0 ? ["--json"] : [])
        let run = try InspectorRun(words)
        openCount += 1
        let isSearchInVain = command.contains("0x00")
        #expect(
          run.code == (isSearchInVain ? .damage : .fine),
          "round \(round): \(words): \(run.errorText)")
        let isSuspicious = run.outputText.contains("damaged") || !run.errors.isEmpty
        #expect(!isSuspicious || command[0] == "latest", "round \(round): \(words)")
      }
      let run = try InspectorRun("segments", store.path, "--json")
      let listed = try #require(try run.outputObjects().first?["segments"] as? [[String: Any]])
      guard let name = listed.first?["file"] as? String else { continue }
      names.insert(name)
      let segment = try InspectorRun("segment", store.path + "/" + name)
      // Where nothing waits, the file may be gone.
      #expect(segment.code == .fine || hurries && segment.code == .system, "round \(round)")
    }
    if !hurries {
      let target = store.directory.path("copy")
      #expect(try InspectorRun("checkpoint", store.path, target).code == .fine)
      #expect(try InspectorRun("verify", target).code == .fine)
    }
    #expect(try writer.hasDoneEnough)
    try writer.stop()
    #expect(names.count > 3)
    ProofTally.count("T13", "opens", openCount + 2 * round)
    #expect(try InspectorRun("verify", store.path).code == .fine)
  }
}
