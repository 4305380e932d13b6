import Foundation
package import KVEngine

/// A file system that fails where it is told to.
///
/// Over a ``RecordingFileSystem`` it also records failed syncs, so that crash images know them. The
/// usual loop: plan an error at call 1, 2, 3 and so on until a run ends with `wasHit == false`.
package final class FaultFileSystem: FileSystem {
  private let base: any FileSystem
  fileprivate let plan: SharedLock<FaultPlan>
  private let quota = SharedLock<Quota?>(nil)
  private let simulatedProcess: Int32?
  private let directory: TemporaryDirectory?

  /// Plans faults, counting the calls from now on.
  ///
  /// With a process number of its own it is used by another process as far as locks and handles
  /// can tell: a lock belongs to the open file, on a real volume too. A directory stays as long as
  /// somebody uses the file system.
  package init(
    _ base: any FileSystem, process: Int32? = nil, keeping directory: TemporaryDirectory? = nil,
    _ faults: Fault...
  ) {
    self.base = base
    simulatedProcess = process
    self.directory = directory
    plan = SharedLock(FaultPlan(faults))
  }

  /// Forgets all faults and counts, and plans others.
  package func plan(_ faults: Fault...) {
    plan.withLock { $0 = FaultPlan(faults) }
  }

  /// Bounds what the files of some folders may have together, as a small volume does.
  package func limit(to byteCount: Int, in folders: [String]) {
    quota.withLock { $0 = Quota(byteCount: byteCount, folders: folders) }
  }

  /// How much of a write the quota leaves room for.
  fileprivate func room(
    for byteCount: Int, at offset: Int, in file: any File, _ path: String
  ) throws(SystemError) -> Int {
    guard let quota = quota.withLock({ $0 }), byteCount > 0 else { return byteCount }
    let end = try file.status().byteCount + quota.freeByteCount(in: base)
    guard offset < end else { throw SystemError(.write, path, code: ENOSPC) }
    return min(byteCount, end - offset)
  }

  /// Whether any fault had its effect since it was planned.
  package var wasHit: Bool { plan.withLock { $0.hitCount > 0 } }

  /// Calls since the last plan.
  package var callCount: Int { plan.withLock { $0.callCount } }

  package var processNumber: Int32 { simulatedProcess ?? base.processNumber }

  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    let file = try plan.perform(.open, path) { () throws(SystemError) in
      try base.open(path, mode)
    }
    return FaultFile(file, path: path, files: self)
  }

  package func status(_ path: String) throws(SystemError) -> FileStatus {
    try plan.perform(.status, path) { () throws(SystemError) in try base.status(path) }
  }

  package func list(_ path: String) throws(SystemError) -> [String] {
    try plan.perform(.list, path) { () throws(SystemError) in try base.list(path) }
  }

  package func makeDirectory(_ path: String) throws(SystemError) {
    try plan.perform(.makeDirectory, path) { () throws(SystemError) in
      try base.makeDirectory(path)
    }
  }

  package func rename(_ source: String, to target: String) throws(SystemError) {
    try plan.perform(.rename, source) { () throws(SystemError) in
      try base.rename(source, to: target)
    }
  }

  package func link(_ source: String, to target: String) throws(SystemError) {
    try plan.perform(.link, source) { () throws(SystemError) in
      try base.link(source, to: target)
    }
  }

  package func unlink(_ path: String) throws(SystemError) {
    try plan.perform(.unlink, path) { () throws(SystemError) in try base.unlink(path) }
  }

  package func syncDirectory(_ path: String) throws(SystemError) {
    try plan.perform(.syncDirectory, path) { () throws(SystemError) in
      try base.syncDirectory(path)
    }
  }

  package func lock(_ path: String) throws(SystemError) -> any FileLock {
    try plan.perform(.lock, path) { () throws(SystemError) in try base.lock(path) }
  }

  package func freeByteCount(_ path: String) throws(SystemError) -> Int {
    try plan.perform(.freeSpace, path) { () throws(SystemError) in
      if let quota = quota.withLock({ $0 }) { return quota.freeByteCount(in: base) }
      return try base.freeByteCount(path)
    }
  }
}

extension SharedLock<FaultPlan> {
  /// Runs a call that knows no parts, with the effect planned for it.
  fileprivate func perform<Result>(
    _ operation: SystemError.Operation, _ path: String,
    _ call: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    guard case .error(let code, let progress) = withLock({ $0.next(operation) }) else {
      return try call()
    }
    if case .everything = progress { _ = try call() }
    throw SystemError(operation, path, code: code)
  }
}

/// An open file with planned faults.
private final class FaultFile: File {
  private let base: any File
  private let path: String
  private let files: FaultFileSystem
  private var plan: SharedLock<FaultPlan> { files.plan }

  init(_ base: any File, path: String, files: FaultFileSystem) {
    self.base = base
    self.path = path
    self.files = files
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    switch plan.withLock({ $0.next(.read) }) {
    case nil:
      return try base.read(at: offset, into: buffer)
    case .short(let count):
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count))
      return try base.read(at: offset, into: part)
    case .error(let code, _):
      throw SystemError(.read, path, code: code)
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    let count: Int
    var failure: SystemError?
    switch plan.withLock({ $0.next(.write) }) {
    case nil:
      count = try files.room(for: buffer.count, at: offset, in: base, path)
    case .short(let limit):
      count = min(limit, buffer.count)
    case .error(let code, let progress):
      failure = SystemError(.write, path, code: code)
      count =
        switch progress {
        case .nothing: 0
        case .part: buffer.count / 2
        case .everything: buffer.count
        }
    }
    let part = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
    let taken = part.isEmpty ? 0 : try base.write(part, at: offset)
    if let failure { throw failure }
    return taken
  }

  func sync() throws(SystemError) {
    guard case .error(let code, let progress) = plan.withLock({ $0.next(.sync) }) else {
      return try base.sync()
    }
    if case .everything = progress {
      try base.sync()
    } else if let file = base as? RecordingFile {
      file.recordFailedSync()
    }
    throw SystemError(.sync, path, code: code)
  }

  func status() throws(SystemError) -> FileStatus {
    try plan.perform(.status, path) { () throws(SystemError) in try base.status() }
  }
}
