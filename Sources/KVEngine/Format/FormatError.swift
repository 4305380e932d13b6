/// A structure that a decoder could not accept.
///
/// Becomes a ``Corruption`` at the reader that knows the file.
package struct FormatError: Error, Equatable {
  package let structure: String
  /// Bytes from the start of the decoded span.
  package let offset: Int
  package let reason: String

  package init(_ structure: String, at offset: Int, _ reason: String) {
    self.structure = structure
    self.offset = offset
    self.reason = reason
  }
}

extension Corruption {
  /// The one place where a decoder's finding becomes a report about a file.
  package init(_ error: FormatError, fileName: String, base: Int = 0) {
    self.init(
      fileName: fileName, offset: base + error.offset, structure: error.structure,
      reason: error.reason)
  }
}
