import KVTestSupport

@testable import KVEngine

/// Batches of 1 to 20 puts, overwrites and deletes over a few keys, by seed.
struct BatchGenerator {
  private(set) var generator: SeededGenerator

  init(seed: UInt64, stream: UInt64 = 1) {
    generator = SeededGenerator(seed: seed, stream: stream)
  }

  mutating func number(below bound: UInt64) -> Int { Int(generator.next() % bound) }

  /// One of 120 keys, with bytes on both sides of every border of signed and unsigned order.
  mutating func key() -> SpaceKey {
    let number = number(below: 40)
    let first: UInt8 = [0x00, 0x7F, 0x80, 0xFF][number % 4]
    let tail = [UInt8](repeating: 0x61, count: number % 5)
    return SpaceKey(space: self.number(below: 3), bytes: [first, UInt8(number)] + tail)
  }

  /// Mostly short, sometimes longer than a block; half of them compress.
  mutating func value() -> [UInt8] {
    let count = number(below: 12) == 0 ? 100 + number(below: 400) : number(below: 40)
    if generator.coin() {
      return [UInt8](repeating: UInt8(truncatingIfNeeded: generator.next()), count: count)
    }
    return generator.bytes(count)
  }

  mutating func batch() -> ModelBatch {
    var batch = ModelBatch()
    let count = generator.coin() ? 1 : 1 + number(below: 20)
    for _ in 0..<count {
      let isDelete = number(below: 4) == 0
      batch.operations.append((key(), isDelete ? nil : value()))
    }
    return batch
  }

  /// A batch that is too large for the log of a tiny store.
  mutating func load() -> ModelBatch {
    var batch = batch()
    for _ in 0..<20 {
      let value = [UInt8](repeating: UInt8(truncatingIfNeeded: generator.next()), count: 900)
      batch.operations.append((key(), value))
    }
    return batch
  }

  /// A condition of which about half hold.
  mutating func precondition(at sequence: UInt64) -> ModelPrecondition {
    let since = sequence - min(sequence, UInt64(number(below: 40)))
    let key = key()
    switch number(below: 3) {
    case 0: return .absent(key)
    case 1: return .unchanged(key, since: since)
    default:
      return .unchangedPrefix(SpaceKey(space: key.space, bytes: [key.bytes[0]]), since: since)
    }
  }

  /// One of three commits waits for no sync.
  mutating func durability() -> Durability { number(below: 3) == 0 ? .lazy : .full }
}
