import KVTestSupport
import Testing

@testable import KVEngine

/// Another process reads while the first one merges.
@Suite struct CompactionReaderTests {
  /// The other process never finds the store damaged, whenever it opens it.
  @Test(.bug(id: "B37"), arguments: StoreVolume.allCases)
  func anotherProcessReadsBesideCompactions(volume: StoreVolume) throws {
    let store = try CompactionSample.store(on: volume)
    let findings = Findings()
    let isDone = Lock(false)
    let database = try store.open()
    onThreads(2) { thread in
      if thread == 0 {
        for round in 1...30 as ClosedRange<UInt8> {
          findings.catching("write") {
            var batch = WriteBatch()
            for key in 0..<20 as Range<UInt8> { batch.put([round], forKey: [key]) }
            try database.write(batch, durability: .lazy)
            if round % 5 == 0 { try database.compact() } else { try database.flush() }
          }
        }
        isDone.withLock { $0 = true }
        return
      }
      var newest: UInt8 = 0
      while true {
        let isLast = isDone.withLock { $0 }
        findings.catching("read") {
          let reader = try store.open(process: 2)
          let contents = try StoreSample.contents(reader)
          let rounds = Set(contents.values.flatMap { $0 })
          findings.check(contents.isEmpty || contents.count == 20, "\(contents.count) keys")
          findings.check(rounds.count <= 1, "mixed rounds \(rounds)")
          findings.check(rounds.first ?? 0 >= newest, "went back")
          newest = rounds.first ?? 0
        }
        if isLast { return }
      }
    }
    #expect(findings.all == [])
  }

  /// What a reader of another process has not opened yet stays for the grace of ten minutes.
  @Test(arguments: StoreVolume.allCases)
  func anotherProcessReadsItsMomentWithinTheGrace(volume: StoreVolume) throws {
    let store = try CompactionSample.store(on: volume)
    let database = try store.open()
    for key in 0..<9 as Range<UInt8> {
      try database.put([1], [key])
      try database.flush()
    }
    let reader = try store.open(process: 2)
    var cursor = try reader.cursor()
    #expect(try cursor.next()?.key == [0])
    for round in 2...5 as ClosedRange<UInt8> {
      for key in 0..<9 as Range<UInt8> { try database.put([round], [key], durability: .lazy) }
      try database.compact()
    }
    var count = 1
    while let entry = try cursor.next() {
      #expect(entry.value == [1])
      count += 1
    }
    #expect(count == 9)
    #expect(try reader.value(forKey: [4]) == [5])
  }
}
