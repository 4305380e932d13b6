/// A range of keys in unsigned byte order.
public struct KeyRange: Sendable, Hashable {
  /// The smallest key of the range, `nil` when it begins with the first key.
  package let lower: [UInt8]?
  /// The smallest key behind the range, `nil` when it ends with the last key.
  package let upper: [UInt8]?

  package init(lower: [UInt8]?, upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// Every key.
  public static let all = KeyRange(lower: nil, upper: nil)

  /// The keys that begin with these bytes.
  ///
  /// - Parameter prefix: 0 or more bytes; none stands for every key.
  /// - Returns: The range of these keys.
  public static func prefix(_ prefix: some Sequence<UInt8>) -> KeyRange {
    let bytes = Array(prefix)
    return KeyRange(lower: bytes, upper: bytes.prefixSuccessor)
  }

  /// The keys from one key up to, but not including, another.
  public static func range(from lower: [UInt8], upTo upper: [UInt8]) -> KeyRange {
    KeyRange(lower: lower, upper: upper)
  }

  /// The keys from one key on.
  public static func from(_ lower: [UInt8]) -> KeyRange {
    KeyRange(lower: lower, upper: nil)
  }

  /// The keys before one key.
  public static func upTo(_ upper: [UInt8]) -> KeyRange {
    KeyRange(lower: nil, upper: upper)
  }

  /// The range as internal keys of a space: first key at or after, first key behind.
  package func bounds(in space: Space) -> (lower: [UInt8], upper: [UInt8]?) {
    let lowerKey = [space.code] + (lower ?? [])
    guard let upper else { return (lowerKey, [space.code].prefixSuccessor) }
    return (lowerKey, [space.code] + upper)
  }
}
