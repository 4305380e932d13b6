/// Where a handle that does not hold the lock looks whether others have changed the store: one look
/// at the name of the MANIFEST, one read of a word behind the end of the log.
///
/// The two files stay open. As long as they are, no other file can get the MANIFEST's identity, and
/// the log can be read though its name may be gone.
package final class Following: Sendable {
  /// The MANIFEST that the view was read from; `nil` when there was none.
  private let manifest: ManifestFile.Origin?
  private let log: (any File)?
  /// Where the next record will begin.
  private let logEnd: Int
  /// The log as it was read, if something stood behind its end that was no record.
  private let tornLog: ByteBuffer?

  package init(
    manifest: ManifestFile.Origin?, log: (any File)?, logEnd: Int, tornLog: ByteBuffer? = nil
  ) {
    self.manifest = manifest
    self.log = log
    self.logEnd = logEnd
    self.tornLog = tornLog
  }

  /// Of a store that does not exist yet.
  package static var nothing: Following { Following(manifest: nil, log: nil, logEnd: 0) }

  /// Whether the store may be another than it was.
  ///
  /// - Complexity: Two system calls; O(zeros ahead) when the log ends in something that is no
  ///   record.
  package func hasChanged(at location: StoreLocation) throws(DatabaseError) -> Bool {
    do throws(SystemError) {
      guard let manifest else { return try isThere(location) }
      guard try location.manifest.isCurrent(manifest.identity) else { return true }
      return try hasGrown()
    } catch {
      throw error.readFailure
    }
  }

  private func isThere(_ location: StoreLocation) throws(SystemError) -> Bool {
    do {
      _ = try location.files.status(location.path(.manifest))
      return true
    } catch {
      if error.isNotFound { return false }
      throw error
    }
  }

  /// Whether something stands behind the end of the log that did not before.
  ///
  /// A record's first word is not zero. It may be there before the rest of the record: then what
  /// was read is compared as a whole, so that nothing is missed when the rest comes.
  private func hasGrown() throws(SystemError) -> Bool {
    guard let log else { return false }
    var word: UInt64 = 0
    _ = try unsafe withUnsafeMutableBytes(of: &word) { bytes throws(SystemError) in
      try unsafe log.readBytes(at: logEnd, into: bytes)
    }
    if word == 0 { return false }
    guard let tornLog else { return true }
    let now = try log.readBytes(
      at: logEnd, count: min(try log.status().byteCount, Limits.Log.maximumByteCount) - logEnd)
    return compareBytes(now.bytes, tornLog.bytes.extracting(droppingFirst: logEnd)) != 0
  }
}
