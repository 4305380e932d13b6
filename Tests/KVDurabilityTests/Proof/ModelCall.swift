import KVTestSupport

@testable import KVEngine

/// A value by its maker: short in a list of calls.
struct ModelValue: Sendable, CustomStringConvertible {
  let seed: UInt64
  let byteCount: Int

  /// Half of them compress.
  var bytes: [UInt8] {
    var generator = SeededGenerator(seed: seed)
    if seed % 2 == 0 { return generator.bytes(byteCount) }
    return [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: byteCount)
  }

  var description: String { "\(byteCount) bytes of seed \(seed)" }
}

/// A key by its number.
struct ModelKey: Sendable, CustomStringConvertible {
  static let count = 48
  let number: Int
  let space: Int

  /// Bytes on both sides of every border of signed and unsigned order, keys that are prefixes of
  /// others, and some longer than the bounds that a MANIFEST keeps.
  static let all: [[UInt8]] = (0..<count).map { number in
    let first: UInt8 = [0x00, 0x61, 0x7F, 0x80, 0xFE, 0xFF][number % 6]
    switch number / 6 {
    case 0: return [first]
    case 1: return [first, 0]
    case 2: return [first, 0xFF]
    case 3: return [UInt8](repeating: first, count: 70)
    case 4: return [UInt8](repeating: first, count: 70) + [1]
    default: return [first, 0x40, UInt8(number)]
    }
  }

  var bytes: [UInt8] { Self.all[number] }
  var key: VersionedModel.Key { VersionedModel.Key(space: space, bytes: bytes) }
  var description: String { "\(space):\(bytes.count > 8 ? "\(bytes.count) x " : "")\(short)" }
  private var short: String { "\(Array(bytes.prefix(bytes.count > 8 ? 1 : 8)))" }
}

/// A range of keys, by the numbers of its ends.
enum ModelRange: Sendable {
  case all
  case range(Int, Int)
  case prefix(Int, Int)
  /// By the path that asks the filters.
  case filteredPrefix(Int, Int)
  case from(Int)
  case upTo(Int)

  var keys: KeyRange {
    switch self {
    case .all: .all
    case .range(let low, let high): .range(from: ModelKey.all[low], upTo: ModelKey.all[high])
    case .prefix(let key, let count), .filteredPrefix(let key, let count):
      .prefix(ModelKey.all[key].prefix(count))
    case .from(let key): .from(ModelKey.all[key])
    case .upTo(let key): .upTo(ModelKey.all[key])
    }
  }
}

/// What is read: the handle, a handle of another process, or a snapshot by its number.
enum ModelSource: Sendable {
  case handle, follower
  case snapshot(Int)
}

/// A condition of a commit.
enum ModelCondition: Sendable {
  case absent(ModelKey)
  case unchanged(ModelKey, sinceSnapshot: Int)
  case unchangedPrefix(ModelKey, Int, sinceSnapshot: Int)
}

/// One call of the public interface, complete in itself: any list of calls is a history, so that a
/// failing one can be made shorter by leaving calls out.
enum ModelCall: Sendable {
  case write([(key: ModelKey, value: ModelValue?)], isLazy: Bool, ModelCondition?)
  case deleteRange(ModelRange, space: Int, isLazy: Bool)
  case get(ModelKey, ModelSource)
  case open(ModelRange, space: Int, ModelSource)
  case move(cursor: Int, isForward: Bool)
  case seek(cursor: Int, ModelKey, isForward: Bool)
  case scan(ModelSource)
  case takeSnapshot(ModelSource)
  case releaseSnapshot(Int)
  case flush, compactStep, compact, checkpoint, suspension, verify, releaseMemory
  case reopen(isClosed: Bool)
  case kill
  /// The power fails at some operation of the last call that changed something.
  case crash(CrashVariant, seed: UInt64)
}

/// Makes histories by seed.
struct ModelCallGenerator {
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed, stream: 8)
  }

  private mutating func number(below bound: Int) -> Int { Int(generator.next() % UInt64(bound)) }

  private mutating func key(space: Int? = nil) -> ModelKey {
    ModelKey(
      number: number(below: ModelKey.count),
      space: space ?? number(below: StoreContent.spaces.count))
  }

  private mutating func value() -> ModelValue {
    let byteCount = number(below: 12) == 0 ? 100 + number(below: 500) : number(below: 40)
    return ModelValue(seed: generator.next() % 100_000, byteCount: byteCount)
  }

  private mutating func range() -> ModelRange {
    let (key, other) = (number(below: ModelKey.count), number(below: ModelKey.count))
    switch number(below: 8) {
    case 0...2: return .all
    case 3: return .from(key)
    case 4: return .upTo(key)
    case 5: return .prefix(key, 1 + number(below: 3))
    case 6: return .filteredPrefix(key, 1 + number(below: 3))
    default: return .range(key, other)
    }
  }

  private mutating func source() -> ModelSource {
    switch number(below: 6) {
    case 0...2: .handle
    case 3: .follower
    default: .snapshot(number(below: 8))
    }
  }

  private mutating func write() -> ModelCall {
    let isLazy = number(below: 3) == 0
    var operations: [(key: ModelKey, value: ModelValue?)] = []
    let isLoad = number(below: 60) == 0
    for _ in 0..<(generator.coin() ? 1 : 1 + number(below: 9)) {
      operations.append((key(), number(below: 3) == 0 ? nil : value()))
    }
    if isLoad {
      for _ in 0..<20 {
        operations.append((key(), ModelValue(seed: generator.next() % 100_000, byteCount: 900)))
      }
    }
    var condition: ModelCondition?
    switch number(below: 12) {
    case 0: condition = .absent(key())
    case 1: condition = .unchanged(key(), sinceSnapshot: number(below: 8))
    case 2:
      condition = .unchangedPrefix(
        key(), number(below: 3), sinceSnapshot: number(below: 8))
    default: break
    }
    return .write(operations, isLazy: isLazy, condition)
  }

  private mutating func call() -> ModelCall {
    switch number(below: 1000) {
    case ..<400: .move(cursor: number(below: 4), isForward: number(below: 5) < 3)
    case ..<560: .seek(cursor: number(below: 4), key(space: 0), isForward: generator.coin())
    case ..<690: .get(key(), source())
    case ..<755: .open(range(), space: number(below: StoreContent.spaces.count), source())
    case ..<895: write()
    case ..<905:
      .deleteRange(
        range(), space: number(below: StoreContent.spaces.count), isLazy: generator.coin())
    case ..<922: .takeSnapshot(source())
    case ..<937: .releaseSnapshot(number(below: 8))
    case ..<943: .scan(source())
    case ..<957: .flush
    case ..<972: .compactStep
    case ..<975: .compact
    case ..<977: .checkpoint
    case ..<980: .suspension
    case ..<982: .verify
    case ..<985: .releaseMemory
    case ..<990: .reopen(isClosed: generator.coin())
    case ..<994: .kill
    default:
      .crash(
        CrashVariant.allCases[number(below: CrashVariant.allCases.count)], seed: generator.next())
    }
  }

  /// A history of calls.
  mutating func history(_ count: Int) -> [ModelCall] {
    (0..<count).map { _ in call() }
  }
}
