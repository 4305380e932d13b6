public import MemoCore

/// A type whose values name the memos of an app, as `String`, `Int`, `Int64`, `[UInt8]`, `UUID` and
/// ``MemoID`` do.
///
/// A type of the app's own says how its values become ids of the store and back. Two different
/// values need two different ids, and an id must never change its meaning: it is what stored memos
/// are found by.
public protocol MemoIdentifier: Hashable, Sendable {
  /// The id of the store that stands for this value.
  var memoID: MemoID { get throws(MemoError) }

  /// Makes the value that an id of the store stands for, `nil` for an id that stands for none.
  ///
  /// - Parameter memoID: What ``memoID`` gave for some value.
  init?(memoID: MemoID)
}

extension MemoID: MemoIdentifier {
  /// The id itself.
  public var memoID: MemoID { self }

  /// Makes an id of itself.
  public init(memoID: MemoID) { self = memoID }
}

extension String: MemoIdentifier {
  /// The text as an id; throws ``MemoError/invalidID(reason:)`` when it is empty or too long.
  public var memoID: MemoID {
    get throws(MemoError) { try MemoID(self) }
  }

  /// Makes the text of an id that is one.
  public init?(memoID: MemoID) {
    guard case .text(let text) = PayloadValue(memoID) else { return nil }
    self = text
  }
}

extension Int64: MemoIdentifier {
  /// The number as an id.
  public var memoID: MemoID { MemoID(self) }

  /// Makes the number of an id that is one.
  public init?(memoID: MemoID) {
    guard let number = PayloadValue(memoID).integer(Int64.self) else { return nil }
    self = number
  }
}

extension Int: MemoIdentifier {
  /// The number as an id.
  public var memoID: MemoID { MemoID(Int64(self)) }

  /// Makes the number of an id that is one.
  public init?(memoID: MemoID) {
    guard let number = PayloadValue(memoID).integer(Int.self) else { return nil }
    self = number
  }
}

extension [UInt8]: MemoIdentifier {
  /// The bytes as an id; throws ``MemoError/invalidID(reason:)`` when there are none or too many.
  public var memoID: MemoID {
    get throws(MemoError) { try MemoID(bytes: self) }
  }

  /// Makes the bytes of an id that has some.
  public init?(memoID: MemoID) {
    guard case .bytes(let bytes) = PayloadValue(memoID) else { return nil }
    self = bytes
  }
}
