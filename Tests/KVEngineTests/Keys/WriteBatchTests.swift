import KVTestSupport
import Testing

@testable import KVEngine

/// What a batch takes, and how its bytes come out.
@Suite struct WriteBatchTests {
  /// An operation as a reader of the batch's bytes finds it.
  struct Operation: Equatable {
    let kind: RecordKind
    let key: [UInt8]
    let value: [UInt8]
  }

  private func operations(of bytes: [UInt8], count: Int) throws -> [Operation] {
    var reader = OperationReader(bytes.rawBytes, count: count)
    var found: [Operation] = []
    while let operation = try reader.next() {
      found.append(
        Operation(
          kind: operation.kind, key: Array(bytes[operation.key]),
          value: Array(bytes[operation.value])))
    }
    return found
  }

  private func operations(of batch: WriteBatch) throws -> [Operation] {
    #expect(batch.failure == nil)
    return try operations(of: batch.bytes, count: batch.operationCount)
  }

  @Test func operationsComeBackInTheirOrder() throws {
    var batch = WriteBatch()
    #expect(batch.isEmpty)
    batch.put([1, 2], forKey: [9])
    batch.delete([9])
    batch.put([], forKey: [9], in: Space(code: 7), kind: .insertion)
    batch.delete([8], in: Space(code: 7), kind: .removal)
    #expect(batch.operationCount == 4 && !batch.isEmpty)
    #expect(
      try operations(of: batch) == [
        Operation(kind: .put, key: [64, 9], value: [1, 2]),
        Operation(kind: .tombstone, key: [64, 9], value: []),
        Operation(kind: .insertion, key: [7, 9], value: []),
        Operation(kind: .removal, key: [7, 8], value: []),
      ])
  }

  @Test(.bug(id: "B67"), arguments: [1, 2, 127, 128, 16_383, 65_534, 65_535])
  func keysOfEveryAllowedLengthAreTaken(count: Int) throws {
    let key = [UInt8](repeating: 0, count: count)
    var batch = WriteBatch()
    batch.put([5], forKey: key)
    batch.delete(key)
    #expect(try operations(of: batch).map(\.key) == [[64] + key, [64] + key])
  }

  @Test(.bug(id: "B67")) func anEmptyKeyIsRefused() {
    for isPut in [true, false] {
      var batch = WriteBatch()
      if isPut { batch.put([1], forKey: []) } else { batch.delete([]) }
      #expect(batch.failure == .invalidArgument("a key has at least one byte"))
      #expect(batch.bytes.isEmpty && batch.operationCount == 0)
    }
  }

  @Test(.bug(id: "B67")) func aKeyOverTheLimitIsRefused() {
    for isPut in [true, false] {
      var batch = WriteBatch()
      let key = [UInt8](repeating: 1, count: 65_536)
      if isPut { batch.put([1], forKey: key) } else { batch.delete(key) }
      #expect(batch.failure == .limitExceeded(what: "key", maximum: 65_535))
      #expect(batch.bytes.isEmpty && batch.operationCount == 0)
    }
  }

  @Test(.bug(id: "B67")) func anEmptyValueIsAValue() throws {
    var batch = WriteBatch()
    batch.put([], forKey: [1])
    #expect(try operations(of: batch) == [Operation(kind: .put, key: [64, 1], value: [])])
  }

  @Test(.bug(id: "B68"), arguments: [-1, 0, 1]) func theValueLimitIsExact(distance: Int) {
    let maximum = Limits.Value.maximumByteCount
    var batch = WriteBatch()
    batch.put([UInt8](repeating: 7, count: maximum + distance), forKey: [1])
    if distance > 0 {
      #expect(batch.failure == .limitExceeded(what: "value", maximum: maximum))
      #expect(batch.isEmpty)
    } else {
      #expect(batch.failure == nil)
      #expect(batch.operationCount == 1)
    }
  }

  @Test(.bug(id: "B68")) func aBatchOverTheLimitIsRefusedAsAWhole() {
    var batch = WriteBatch()
    let half = [UInt8](repeating: 7, count: Limits.Batch.maximumByteCount / 2)
    batch.put(half, forKey: [1])
    #expect(batch.failure == nil)
    batch.put(half, forKey: [2])
    #expect(
      batch.failure == .limitExceeded(what: "batch", maximum: Limits.Batch.maximumByteCount))
    #expect(batch.bytes.count <= Limits.Batch.maximumByteCount)
    // What would still fit does not make the batch whole again.
    batch.put([], forKey: [3])
    #expect(batch.failure != nil && batch.operationCount == 1)
  }

  @Test func theFirstFailureIsTheOneThatIsReported() {
    var batch = WriteBatch()
    batch.put([1], forKey: [UInt8](repeating: 1, count: 65_536))
    batch.put([1], forKey: [])
    batch.delete([])
    #expect(batch.failure == .limitExceeded(what: "key", maximum: 65_535))
  }

  @Test func slotsAreFilledWithTheNumberOfTheirOperation() throws {
    typealias Slot = WriteBatch.KeySlot
    var batch = WriteBatch()
    let empty = [UInt8](repeating: 0xEE, count: 8)
    batch.put([], forKey: [1])
    batch.put(
      [9], forKey: empty + [2], in: Space(code: 1), kind: .insertion,
      slot: Slot(offset: 0, operation: 1, isInverted: true))
    batch.put(
      [], forKey: [3] + empty, in: Space(code: 2), kind: .put,
      slot: Slot(offset: 1, operation: 1, isInverted: false))
    let first: SequenceNumber = 0x1122_3344
    let filled = batch.filledBytes(firstSequence: first)
    let found = try operations(of: filled, count: 3)
    var arrival: [UInt8] = []
    arrival.append(bigEndian: first + 1)
    var inverted: [UInt8] = []
    inverted.append(bigEndian: ~(first + 1))
    #expect(found[0].key == [64, 1])
    #expect(found[1].key == [1] + inverted + [2])
    #expect(found[2].key == [2, 3] + arrival)
    #expect(batch.slots.count == 2)
    // The batch itself stays as it was and can be written again.
    #expect(try operations(of: batch)[1].key == [1] + empty + [2])
  }

  @Test func preconditionsAreNoOperations() {
    var batch = WriteBatch()
    batch.require(absent: [1])
    batch.require(unchanged: [2], since: 5, in: Space(code: 3))
    batch.require(unchangedPrefix: [], since: 6)
    #expect(batch.isEmpty && batch.bytes.isEmpty)
    #expect(
      batch.preconditions == [
        .absent([64, 1]), .unchanged([3, 2], since: 5), .unchangedPrefix([64], since: 6),
      ])
  }
}
