import KVTestSupport
import Testing

@testable import KVEngine

/// Processes that share one store: one writes at a time, nothing is lost between turns (promise
/// P12).
@Suite struct TwoProcessTests {
  private let files = RecordingFileSystem()

  private func open(
    _ process: Int32, options: DatabaseOptions = TinyStore.options
  ) throws -> Database {
    try TinyStore.open(in: files.process(process), options: options)
  }

  private var readOnly: DatabaseOptions {
    var options = TinyStore.options
    options.isReadOnly = true
    return options
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func turnsLoseNothing(seed: UInt64) throws {
    var batches = BatchGenerator(seed: seed)
    var content = StoreContent()
    var waiting = try open(2)
    var active = try open(1)
    for turn in 0..<20 {
      for _ in 0..<(1 + batches.number(below: 6)) {
        let batch = batches.batch()
        try active.write(batch.writeBatch(on: content), durability: batches.durability())
        content = batch.applied(to: content)
      }
      if turn % 3 == 1 { try active.flush() }
      #expect(try active.countedContent() == content, "seed \(seed), turn \(turn)")
      try active.close()
      // The handle that waits was opened before this turn and writes in the next one.
      active = waiting
      waiting = try open(turn % 2 == 0 ? 1 : 2)
    }
    #expect(try open(3).countedContent() == content, "seed \(seed)")
    let image = files.image(after: files.operationCount, variant: .strict)
    #expect(try TinyStore.open(in: image).countedContent() == content, "seed \(seed)")
  }

  @Test func aKilledProcessLosesNothingAndBlocksNobody() throws {
    let first = try open(1)
    try first.write { $0.put([1], forKey: [1]) }
    try first.write(durability: .lazy) { $0.put([2], forKey: [2]) }
    let second = try open(2)
    #expect(throws: DatabaseError.alreadyOpen) { try second.write { $0.put([3], forKey: [3]) } }
    files.process(1).base.endProcess()
    try second.write { $0.put([3], forKey: [3]) }
    for key in [1, 2, 3] as [UInt8] { #expect(try second.value(forKey: [key]) == [key]) }
    let image = files.image(after: files.operationCount, variant: .strict)
    let recovered = try TinyStore.open(in: image)
    for key in [1, 2, 3] as [UInt8] { #expect(try recovered.value(forKey: [key]) == [key]) }
    _ = first
  }

  @Test func aSecondWriterIsRefusedAtOnceAndChangesNothing() throws {
    let first = try open(1)
    try first.write { $0.put([1], forKey: [1]) }
    let second = try open(2)
    let count = files.operationCount
    for _ in 0..<3 {
      #expect(throws: DatabaseError.alreadyOpen) { try second.write { $0.put([2], forKey: [2]) } }
      #expect(throws: DatabaseError.alreadyOpen) { try second.flush() }
    }
    #expect(throws: DatabaseError.alreadyOpen) { try open(1) }
    try second.close()
    #expect(files.operationCount == count)
    try first.write { $0.put([3], forKey: [3]) }
    #expect(try open(2).value(forKey: [2]) == nil)
  }

  @Test func aRefusedWriterSucceedsWhenTheOtherCloses() throws {
    let first = try open(1)
    let second = try open(2)
    try first.write { $0.put([1], forKey: [1]) }
    #expect(throws: DatabaseError.alreadyOpen) { try second.write { $0.put([2], forKey: [2]) } }
    try first.close()
    try second.write { $0.put([2], forKey: [2]) }
    #expect(try second.value(forKey: [1]) == [1])
  }

  @Test func aReaderKeepsItsSnapshotWhileTheWriterFlushes() throws {
    var batches = BatchGenerator(seed: 7)
    var content = StoreContent()
    let writer = try open(1)
    func commit(_ count: Int) throws {
      for _ in 0..<count {
        let batch = batches.batch()
        try writer.write(batch.writeBatch(on: content))
        content = batch.applied(to: content)
      }
    }
    try commit(20)
    try writer.flush()
    try commit(5)
    let reader = try open(2, options: readOnly)
    let snapshot = try reader.snapshot()
    let before = content
    for _ in 0..<6 {
      try commit(9)
      try writer.flush()
      #expect(try snapshot.content() == before)
    }
    #expect(try open(3, options: readOnly).countedContent() == content)
  }

  @Test func aReaderChangesNothing() throws {
    let writer = try open(1)
    for number in 0..<40 as Range<UInt8> {
      try writer.write(durability: .lazy) {
        $0.put([UInt8](repeating: number, count: 200), forKey: [number])
      }
    }
    let count = files.operationCount
    let reader = try open(2, options: readOnly)
    #expect(try reader.content() == writer.content())
    #expect(try reader.verify().isSound)
    #expect(throws: DatabaseError.self) { try reader.write { $0.put([1], forKey: [1]) } }
    #expect(throws: DatabaseError.self) { try reader.flush() }
    try reader.close()
    #expect(files.operationCount == count)
  }

  @Test func twoCreatorsMakeOneStore() throws {
    let first = try open(1)
    let second = try open(2)
    try first.write { $0.put([1], forKey: [1]) }
    #expect(throws: DatabaseError.alreadyOpen) { try second.write { $0.put([2], forKey: [2]) } }
    try first.close()
    try second.write { $0.put([2], forKey: [2]) }
    #expect(try second.value(forKey: [1]) == [1])
  }
}
