import KVTestSupport

@testable import KVEngine

/// An entry of the slow model that sorted structures are held against.
struct ModelEntry: Equatable {
  /// With its space byte.
  let key: [UInt8]
  let sequence: SequenceNumber
  let kind: RecordKind
  let value: [UInt8]

  /// Internal key order, byte by byte.
  func precedes(_ other: ModelEntry) -> Bool {
    if key == other.key { return sequence > other.sequence }
    return key.lexicographicallyPrecedes(other.key)
  }

  /// A place in the order that is no entry.
  static func place(_ key: [UInt8], _ sequence: SequenceNumber) -> ModelEntry {
    ModelEntry(key: key, sequence: sequence, kind: .put, value: [])
  }

  /// Keys that share prefixes, are shorter than eight bytes, end in zeros, or stand at the borders
  /// of signed bytes.
  static let trickyKeys: [[UInt8]] =
    [
      [0], [0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [1], [1, 0], [1, 0, 0],
      [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 0], [1, 2, 3, 4, 5, 6, 7, 8],
      [1, 2, 3, 4, 5, 6, 7, 8, 0], [1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 9],
      [0x7F], [0x80], [0x7F, 0xFF], [0x80, 0], [0xFF],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ]
}

/// A batch of random operations, and the entries that it becomes.
func randomBatch(
  count: Int, firstSequence: SequenceNumber, spaces: [UInt8] = [64],
  keys: [[UInt8]] = ModelEntry.trickyKeys, using random: inout SeededGenerator
) -> (batch: WriteBatch, entries: [ModelEntry]) {
  var batch = WriteBatch()
  var entries: [ModelEntry] = []
  for index in 0..<count {
    let space = Space(code: spaces[Int.random(in: 0..<spaces.count, using: &random)])
    let key = keys[Int.random(in: 0..<keys.count, using: &random)]
    let sequence = firstSequence + UInt64(index)
    if Int.random(in: 0..<3, using: &random) > 0 {
      let value = random.bytes(Int.random(in: 0...9, using: &random))
      batch.put(value, forKey: key, in: space, kind: .insertion)
      entries.append(
        ModelEntry(key: [space.code] + key, sequence: sequence, kind: .insertion, value: value))
    } else {
      batch.delete(key, in: space)
      entries.append(
        ModelEntry(key: [space.code] + key, sequence: sequence, kind: .tombstone, value: []))
    }
  }
  return (batch, entries)
}
