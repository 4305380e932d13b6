// How a handle gives the lock up and comes back to it: when the app says so, and by itself after an
// idle second. While the lock is not held nothing is remembered for writing (C4): the next write
// reads MANIFEST and log again.

extension Writer {
  /// Nanoseconds without a commit after which the lock is given up.
  private static let idleTime: UInt64 = 1_000_000_000

  /// Makes lazy commits durable and gives up the lock; writes are refused until ``resume()``.
  mutating func suspend() throws(DatabaseError) {
    switch status {
    case .open: try release()
    case .idle: break
    case .suspended, .failed, .closed: return
    }
    status = .suspended
  }

  /// Takes writes again.
  mutating func resume() {
    if case .suspended = status { status = .idle }
  }

  /// When there is something to do by itself; `nil` for not before the next commit.
  ///
  /// A compaction to look for after a flush, lazy commits to be made durable, the lock to be given
  /// up. A running compaction keeps the lock, which its output needs to be published.
  var deadline: UInt64? {
    guard case .open = status else { return nil }
    if mayBeCompacted { return 0 }
    let idleEnd = !compacting.isEmpty ? nil : lastUseTime + Self.idleTime
    return [lazyDeadline, idleEnd].compactMap(\.self).min()
  }

  /// Notes a state that was read, in which another process may have merged what this one compares.
  mutating func note(_ found: RecoveredStore) {
    if found.manifest.generation != knownGeneration { oldestJudgedSequence = found.lastSequence }
    knownGeneration = found.manifest.generation
    state.note(found)
  }

  /// Does what is due at a moment of the monotonic clock: syncs lazy commits whose time has come,
  /// gives the lock up after an idle second.
  mutating func tend(at moment: UInt64) throws(DatabaseError) {
    guard case .open(var store) = status else { return }
    if compacting.isEmpty, moment >= lastUseTime + Self.idleTime { return try release() }
    if let due = lazyDeadline, moment >= due {
      try sync(&store)
      status = .open(store)
    }
  }

  /// Makes what is in the log durable.
  ///
  /// A failure is final (C3).
  mutating func sync(_ store: inout OpenStore) throws(DatabaseError) {
    lazyDeadline = nil
    guard store.log.isDirty else { return }
    do throws(SystemError) {
      try store.log.sync()
      state.metrics.count { $0.syncCount += 1 }
    } catch {
      fail()
      throw .outcomeUnknown(error.failure)
    }
  }

  /// Begins to look for what others will write, and opens what they may remove.
  private func follow(_ store: OpenStore) {
    state.segments.pinAll()
    var following = Following.nothing
    do throws(SystemError) {
      let manifest = try location.files.open(location.path(.manifest), .read)
      following = Following(
        manifest: try ManifestFile.Origin(manifest), log: store.log.file,
        logEnd: store.log.offset)
    } catch {
      // Then the next read opens it, and says why it cannot.
    }
    state.follow(following)
  }

  private mutating func release() throws(DatabaseError) {
    guard case .open(var store) = status else { return }
    try sync(&store)
    follow(store)
    store.lock.unlock()
    status = .idle
    knownGeneration = store.manifest.generation
    // Whoever has the lock next may remove what no MANIFEST names.
    unpublished = []
  }
}
