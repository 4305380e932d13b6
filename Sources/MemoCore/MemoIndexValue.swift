/// One part of a key by which an index finds memos.
///
/// Keys are ordered by their parts, the first one first. Parts of different kinds are in the order
/// of the cases below, whatever they hold: the integer 2 and the double 2.0 are two keys.
public enum MemoIndexValue: Sendable, Hashable {
  /// False before true.
  case bool(Bool)
  /// An integer, in the order of numbers.
  case integer(Int64)
  /// A floating-point number, in the order of numbers: negative infinity first, what is no number
  /// last. Zero has no sign in an index.
  case double(Double)
  /// A point in time, in the order of instants; its offset does not count.
  case timestamp(MemoTimestamp)
  /// A text, in the order of its UTF-8 bytes.
  case text(String)
  /// Bytes, in their order.
  case bytes([UInt8])
  /// A UUID, in the order of its bytes: the first eight and the last eight, each as a big-endian
  /// number.
  case uuid(high: UInt64, low: UInt64)

  /// An integer of the usual width.
  ///
  /// - Parameter number: Any number.
  /// - Returns: The same as the case.
  public static func integer(_ number: Int) -> MemoIndexValue { .integer(Int64(number)) }
}

extension MemoIndexValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  /// Makes an integer of a literal.
  public init(integerLiteral number: Int64) { self = .integer(number) }

  /// Makes a text of a literal.
  public init(stringLiteral text: String) { self = .text(text) }

  /// Makes a floating-point number of a literal.
  public init(floatLiteral number: Double) { self = .double(number) }

  /// Makes true or false of a literal.
  public init(booleanLiteral bool: Bool) { self = .bool(bool) }
}
