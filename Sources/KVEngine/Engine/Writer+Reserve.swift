// A full disk is normal operation. RESERVE is ballast, as large as the log's bound, that is given
// up when a flush, or a batch that only deletes, meets a full disk. While it is gone only deletions
// are taken, so that the app can make room; it is made again as soon as there is room for it, and
// with it everything else is taken again.
//
// Source: Pebble's disk-full wrapper with a ballast file.

extension Writer {
  enum Reserve {
    /// Not looked at since the lock was taken.
    case unknown
    case present
    /// Given up; puts are refused until it can be made again.
    case spent
  }

  /// Makes the ballast if it is missing.
  ///
  /// - Throws: What failed; a full disk leaves puts refused.
  mutating func makeReserve() throws(DatabaseError) {
    if case .present = reserve { return }
    let path = location.path(.reserve)
    do throws(SystemError) {
      let wanted = options.clampedLogByteCount
      if try existingReserveByteCount(path) != wanted {
        let zeros = [UInt8](repeating: 0, count: wanted)
        let temporary = location.path(.temporary(.reserve))
        do throws(SystemError) {
          _ = try location.manifest.write(zeros, to: temporary)
          try location.files.rename(temporary, to: path)
        } catch {
          location.manifest.discard(temporary)
          throw error
        }
      }
      if case .spent = reserve { state.metrics.note(.diskAvailable) }
      reserve = .present
    } catch {
      throw Self.notWritten(error)
    }
  }

  private func existingReserveByteCount(_ path: String) throws(SystemError) -> Int? {
    do {
      return try location.files.status(path).byteCount
    } catch {
      if error.isNotFound { return nil }
      throw error
    }
  }

  /// Gives the ballast up.
  ///
  /// - Returns: Whether there was one, so that trying again makes sense.
  mutating func spendReserve() -> Bool {
    if case .spent = reserve { return false }
    refusePuts()
    do throws(SystemError) {
      try location.files.unlink(location.path(.reserve))
      return true
    } catch {
      return false
    }
  }

  /// From now on only deletions are taken, until the ballast is there again.
  mutating func refusePuts() {
    if case .spent = reserve { return }
    reserve = .spent
    state.metrics.note(.diskFull)
  }

  /// Refuses puts while the ballast is gone and cannot be made again.
  mutating func admitPuts() throws(DatabaseError) {
    if case .spent = reserve { try makeReserve() }
  }
}
