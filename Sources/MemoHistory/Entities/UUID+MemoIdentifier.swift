// The one file that knows `UUID`, the identity that most apps give their memos. Nothing else of
// Foundation is used on Linux: `Data` alone would add seven megabytes to a static program.

internal import KVEngine
public import MemoCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UUID: MemoIdentifier {
  /// The UUID as an id.
  public var memoID: MemoID { MemoID(uuid: halves) }

  /// Makes the UUID of an id that is one.
  public init?(memoID: MemoID) {
    guard case .uuid(let high, let low) = PayloadValue(memoID) else { return nil }
    self.init(high: high, low: low)
  }

  /// The first eight bytes and the last eight, as big-endian numbers.
  fileprivate var halves: (high: UInt64, low: UInt64) {
    unsafe withUnsafeBytes(of: uuid) { bytes in
      (
        high: unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  fileprivate init(high: UInt64, low: UInt64) {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &bytes) { target in
      unsafe target.storeBytes(of: high.bigEndian, as: UInt64.self)
      unsafe target.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: bytes)
  }
}

extension PayloadValue {
  /// A `UUID` as a value; `nil` for any other type.
  static func uuid<Value>(_ value: Value) -> PayloadValue? {
    guard let uuid: UUID = same(value) else { return nil }
    let (high, low) = uuid.halves
    return .uuid(high: high, low: low)
  }

  /// The value as a `UUID`; `nil` when another type is wanted, or the value is none.
  func uuid<Value>() -> Value? {
    guard Value.self == UUID.self else { return nil }
    switch self {
    case .uuid(let high, let low): return same(UUID(high: high, low: low))
    case .bytes(let bytes):
      // What an upgrade made of one.
      guard bytes.count == 16, let id = try? MemoID(encoded: ([4] + bytes).rawBytes) else {
        return nil
      }
      return UUID(memoID: id).flatMap { same($0) }
    default: return nil
    }
  }
}

extension MemoIndexValue {
  /// A UUID as a part of a key.
  ///
  /// - Parameter uuid: Any UUID.
  /// - Returns: Its place is that of its bytes.
  public static func uuid(_ uuid: UUID) -> MemoIndexValue {
    .uuid(high: uuid.halves.high, low: uuid.halves.low)
  }
}
