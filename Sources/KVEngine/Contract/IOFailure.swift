/// A call of the operating system that failed.
///
/// Names the file, not the folder it is in, and never holds stored data.
public struct IOFailure: Error, Sendable, Equatable {
  /// What was tried, for example "write" or "sync".
  public let operation: String
  /// The name of the file or folder, without its path.
  public let fileName: String
  /// The error number of the operating system.
  public let code: Int32

  package init(operation: String, fileName: String, code: Int32) {
    self.operation = operation
    self.fileName = fileName
    self.code = code
  }
}
