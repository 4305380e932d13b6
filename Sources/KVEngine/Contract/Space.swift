/// A named part of a database with its own keys.
///
/// Keys of different spaces never meet: the same bytes may be a key in each of them.
public struct Space: Sendable, Hashable {
  /// The first byte of every internal key of the space.
  package let code: UInt8

  package init(code: UInt8) {
    self.code = code
  }

  /// The space that calls use when none is given; its name is "".
  public static let standard = Space(code: Limits.Space.firstUserCode)
}
