internal import KVEngine

/// What names a memo for its whole life: a text, a number, bytes or a UUID.
///
/// Ids are equal when kind and bytes are. The text "12" is not the number 12, a UUID is not its
/// text form, and texts are compared by their UTF-8, never by canonical equivalence.
public struct MemoID: Sendable, Hashable {
  /// The most bytes that a text or bytes may have.
  public static let maximumByteCount = 65_535

  /// Numbers and UUIDs are stored in place, without an allocation.
  enum Storage: Sendable {
    case text(String)
    case integer(Int64)
    case bytes([UInt8])
    case uuid(high: UInt64, low: UInt64)
  }

  let storage: Storage

  /// Makes an id of a text.
  ///
  /// - Parameter text: Any characters, 1 to 65,535 bytes of UTF-8.
  /// - Throws: ``MemoError/invalidID(reason:)`` when the text is empty or too long.
  public init(_ text: String) throws(MemoError) {
    try Self.check(byteCount: text.utf8.count)
    storage = .text(text.contiguous)
  }

  /// Makes an id of a number.
  ///
  /// - Parameter number: Any number.
  public init(_ number: Int64) {
    storage = .integer(number)
  }

  /// Makes an id of bytes.
  ///
  /// - Parameter bytes: Any bytes, 1 to 65,535 of them.
  /// - Throws: ``MemoError/invalidID(reason:)`` when there are none or too many.
  public init(bytes: [UInt8]) throws(MemoError) {
    try Self.check(byteCount: bytes.count)
    storage = .bytes(bytes)
  }

  /// Makes an id of a UUID.
  ///
  /// - Parameter uuid: The first eight bytes and the last eight, each as a big-endian number.
  public init(uuid: (high: UInt64, low: UInt64)) {
    storage = .uuid(high: uuid.high, low: uuid.low)
  }

  private static func check(byteCount: Int) throws(MemoError) {
    guard byteCount > 0 else { throw .invalidID(reason: "is empty") }
    guard byteCount <= maximumByteCount else {
      throw .invalidID(reason: "has \(byteCount) bytes; the most is \(maximumByteCount)")
    }
  }

  /// Whether two ids name the same memo.
  ///
  /// - Parameters:
  ///   - left: An id.
  ///   - right: Another one.
  /// - Returns: Whether kind and bytes are the same.
  /// - Complexity: O(1) for numbers and UUIDs, O(bytes) otherwise.
  public static func == (left: MemoID, right: MemoID) -> Bool {
    switch (left.storage, right.storage) {
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
    case (.integer(let a), .integer(let b)): a == b
    case (.bytes(let a), .bytes(let b)): a == b
    case (.uuid(let aHigh, let aLow), .uuid(let bHigh, let bLow)): aHigh == bHigh && aLow == bLow
    default: false
    }
  }

  /// Feeds kind and bytes to a hasher.
  ///
  /// - Parameter hasher: The hasher of a set or dictionary.
  public func hash(into hasher: inout Hasher) {
    switch storage {
    case .text(let text): text.hashBytes(into: &hasher)
    case .integer(let number): hasher.combine(number)
    case .bytes(let bytes): hasher.combine(bytes)
    case .uuid(let high, let low):
      hasher.combine(high)
      hasher.combine(low)
    }
  }
}

extension MemoID: CustomStringConvertible {
  /// The id for people: a text as it is, a number in decimal, bytes in hexadecimal, a UUID in its
  /// usual form with lower-case digits.
  ///
  /// A text may hold control characters; escape it before it goes to a terminal.
  public var description: String {
    switch storage {
    case .text(let text): text
    case .integer(let number): String(number)
    case .bytes(let bytes): String(decoding: Self.hexadecimal(bytes), as: UTF8.self)
    case .uuid(let high, let low):
      String(decoding: Self.uuidText(high: high, low: low), as: UTF8.self)
    }
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }

  private static func uuidText(high: UInt64, low: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
    var text = hexadecimal(bytes)
    for position in [20, 16, 12, 8] { text.insert(UInt8(ascii: "-"), at: position) }
    return text
  }
}
