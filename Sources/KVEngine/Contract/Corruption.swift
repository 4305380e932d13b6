/// What is damaged in a store, and where.
///
/// Never holds stored data: memo text does not appear in an error.
public struct Corruption: Error, Sendable, Equatable, CustomStringConvertible {
  /// The damaged file's name inside the store.
  public let fileName: String
  /// Bytes from the file's start to the damaged structure.
  public let offset: Int
  /// The structure that did not verify, for example "block" or "log record".
  public let structure: String
  /// What did not hold, for example "checksum does not match".
  public let reason: String

  package init(fileName: String, offset: Int, structure: String, reason: String) {
    self.fileName = fileName
    self.offset = offset
    self.structure = structure
    self.reason = reason
  }

  /// One line: file, offset, structure and reason.
  public var description: String {
    "\(fileName) at byte \(offset): \(structure): \(reason)"
  }
}
