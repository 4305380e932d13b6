package import KVEngine

/// A memory file system that keeps every change, in order, so that crashes can be looked at later.
///
/// What the base holds at first counts as durable. Calls are counted by kind, reads and failed ones
/// included.
package final class RecordingFileSystem: FileSystem {
  fileprivate struct Journal {
    var operations: [RecordedOperation] = []
    var calls: [SystemError.Operation: Int] = [:]
    let start: CrashState
    /// The state after some operation: images are mostly asked for in order.
    var replayed: CrashState

    mutating func record(_ change: RecordedOperation.Change, _ path: String) {
      let serial = operations.count + 1
      operations.append(RecordedOperation(serial: serial, change: change, path: path))
    }

    mutating func state(after count: Int) -> CrashState {
      precondition(count >= 0 && count <= operations.count)
      if replayed.position > count { replayed = start }
      for operation in operations[replayed.position..<count] { replayed.apply(operation.change) }
      return replayed
    }
  }

  /// The file system as the process sees it.
  package let base: MemoryFileSystem
  private let journal: SharedLock<Journal>

  /// Starts recording.
  package convenience init(_ base: MemoryFileSystem = MemoryFileSystem()) {
    let start = CrashState(base.tree)
    self.init(base, SharedLock(Journal(start: start, replayed: start)))
  }

  private init(_ base: MemoryFileSystem, _ journal: SharedLock<Journal>) {
    self.base = base
    self.journal = journal
  }

  /// The same files and the same record, used by another process.
  package func process(_ number: Int32) -> RecordingFileSystem {
    RecordingFileSystem(base.process(number), journal)
  }

  // MARK: What was recorded

  /// All changes so far.
  package var operations: [RecordedOperation] { journal.withLock { $0.operations } }

  /// Number of changes so far: the largest argument of ``image(after:variant:seed:)``.
  package var operationCount: Int { journal.withLock { $0.operations.count } }

  /// Number of calls of some kinds, by default of all.
  package func callCount(
    _ kinds: Set<SystemError.Operation> = Set(SystemError.Operation.allCases)
  ) -> Int {
    journal.withLock { journal in
      journal.calls.reduce(0) { kinds.contains($1.key) ? $0 + $1.value : $0 }
    }
  }

  /// What a power cut after the first `count` operations may leave.
  ///
  /// - Complexity: O(1) per operation since the last image when `count` does not go back, and
  ///   O(unflushed bytes) per image; flushed bytes are shared.
  package func image(
    after count: Int, variant: CrashVariant, seed: UInt64 = 0
  ) -> MemoryFileSystem {
    let state = journal.withLock { $0.state(after: count) }
    return MemoryFileSystem(state.image(variant, seed: seed))
  }

  /// The seeds with which ``CrashVariant/names`` shows every state of the names that it can show.
  package func nameSeeds(after count: Int) -> Range<UInt64> {
    journal.withLock { $0.state(after: count) }.nameSeeds
  }

  // MARK: FileSystem

  package var processNumber: Int32 { base.processNumber }

  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    try perform(.open) { journal throws(SystemError) in
      let file = try base.open(path, mode)
      let number = try file.status().identity.inode
      if mode == .create {
        journal.record(.create(try base.tree.place(path, for: .open), file: number), path)
      }
      return RecordingFile(file, number: number, path: path, journal: self.journal)
    }
  }

  package func status(_ path: String) throws(SystemError) -> FileStatus {
    try perform(.status) { _ throws(SystemError) in try base.status(path) }
  }

  package func list(_ path: String) throws(SystemError) -> [String] {
    try perform(.list) { _ throws(SystemError) in try base.list(path) }
  }

  package func makeDirectory(_ path: String) throws(SystemError) {
    try perform(.makeDirectory) { journal throws(SystemError) in
      try base.makeDirectory(path)
      let place = try base.tree.place(path, for: .makeDirectory)
      journal.record(.makeDirectory(place, folder: try number(path)), path)
    }
  }

  package func rename(_ source: String, to target: String) throws(SystemError) {
    try perform(.rename) { journal throws(SystemError) in
      let old = try base.tree.place(source, for: .rename)
      let new = try base.tree.place(target, for: .rename)
      let moved = base.tree[old]
      let isChange = moved != base.tree[new]
      try base.rename(source, to: target)
      guard let moved, isChange else { return }
      journal.record(.rename(old, to: new, number: moved), target)
    }
  }

  package func link(_ source: String, to target: String) throws(SystemError) {
    try perform(.link) { journal throws(SystemError) in
      try base.link(source, to: target)
      let place = try base.tree.place(target, for: .link)
      journal.record(.link(place, file: try number(target)), target)
    }
  }

  package func unlink(_ path: String) throws(SystemError) {
    try perform(.unlink) { journal throws(SystemError) in
      let place = try base.tree.place(path, for: .unlink)
      try base.unlink(path)
      journal.record(.unlink(place), path)
    }
  }

  package func syncDirectory(_ path: String) throws(SystemError) {
    try perform(.syncDirectory) { journal throws(SystemError) in
      try base.syncDirectory(path)
      journal.record(.syncDirectory(folder: try number(path)), path)
    }
  }

  package func lock(_ path: String) throws(SystemError) -> any FileLock {
    try perform(.lock) { journal throws(SystemError) in
      let place = try base.tree.place(path, for: .lock)
      let isNew = base.tree[place] == nil
      let lock = try base.lock(path)
      if isNew { journal.record(.create(place, file: try number(path)), path) }
      return lock
    }
  }

  package func freeByteCount(_ path: String) throws(SystemError) -> Int {
    try perform(.freeSpace) { _ throws(SystemError) in try base.freeByteCount(path) }
  }

  private func number(_ path: String) throws(SystemError) -> UInt64 {
    try base.status(path).identity.inode
  }

  /// Counts a call and keeps the record in the order of the effects.
  private func perform<Result>(
    _ operation: SystemError.Operation,
    _ body: (inout Journal) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    try journal.withLock { journal throws(SystemError) in
      journal.calls[operation, default: 0] += 1
      return try body(&journal)
    }
  }
}

/// An open file whose changes are recorded.
final class RecordingFile: File {
  private let base: any File
  private let number: UInt64
  private let path: String
  private let journal: SharedLock<RecordingFileSystem.Journal>

  fileprivate init(
    _ base: any File, number: UInt64, path: String, journal: SharedLock<RecordingFileSystem.Journal>
  ) {
    self.base = base
    self.number = number
    self.path = path
    self.journal = journal
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    journal.withLock { $0.calls[.read, default: 0] += 1 }
    return try base.read(at: offset, into: buffer)
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try journal.withLock { journal throws(SystemError) in
      journal.calls[.write, default: 0] += 1
      let taken = try base.write(buffer, at: offset)
      let bytes = Array(buffer.prefix(taken))
      if taken > 0 { journal.record(.write(file: number, offset: offset, bytes: bytes), path) }
      return taken
    }
  }

  func sync() throws(SystemError) {
    try journal.withLock { journal throws(SystemError) in
      journal.calls[.sync, default: 0] += 1
      try base.sync()
      journal.record(.sync(file: number), path)
    }
  }

  /// Records that a layer above reports a sync of this file as failed.
  func recordFailedSync() {
    journal.withLock { journal in
      journal.calls[.sync, default: 0] += 1
      journal.record(.failedSync(file: number), path)
    }
  }

  func status() throws(SystemError) -> FileStatus {
    journal.withLock { $0.calls[.status, default: 0] += 1 }
    return try base.status()
  }
}
