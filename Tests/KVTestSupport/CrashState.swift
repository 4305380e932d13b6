import KVEngine

/// What is durable and what is not, after some recorded operations.
///
/// The rules are those at the head of FileSystem.swift, a little harsher where they leave room:
///  1. Bytes are flushed by a sync of their file only; neither a rename nor a sync of the folder
///     adds anything.
///  2. Names are flushed by a sync of their folder only. A rename inside one folder is one change;
///     between two folders it is two, of which either may be lost.
///  3. A failed sync leaves the file's unflushed writes *detached*: visible, but clean for the
///     kernel, so that no later sync flushes them. Bytes become durable again by being written
///     again.
///
/// A value: copies share all pages and lists that did not change since.
struct CrashState {
  /// Bytes written to a file and not flushed.
  struct UnflushedWrite {
    let offset: Int
    let bytes: ArraySlice<UInt8>
    var isDetached = false

    var end: Int { offset + bytes.count }
  }

  struct File {
    var flushed = PagedBytes()
    /// What readers see: the flushed bytes and all writes since.
    var visible = PagedBytes()
    /// In order; detached writes come first.
    var unflushed: [UnflushedWrite] = []
  }

  /// One step in the names of one folder, kept or lost as a whole.
  struct NameChange {
    /// Position among all changes of names.
    let serial: Int
    let effects: [(name: [UInt8], number: UInt64?)]
  }

  struct Folder {
    var flushed: [[UInt8]: UInt64] = [:]
    var unflushed: [NameChange] = []
  }

  private(set) var files: [UInt64: File]
  private(set) var folders: [UInt64: Folder]
  /// Number of operations applied.
  private(set) var position = 0
  private var nameChangeCount = 0

  /// Starts with a tree that is durable as it is.
  init(_ tree: MemoryTree) {
    files = tree.files.mapValues { File(flushed: $0, visible: $0) }
    folders = tree.folders.mapValues { Folder(flushed: $0) }
  }

  mutating func apply(_ change: RecordedOperation.Change) {
    position += 1
    switch change {
    case .create(let place, let file):
      files[file] = File()
      rename([(place.name, file)], in: place.folder)
    case .makeDirectory(let place, let folder):
      folders[folder] = Folder()
      rename([(place.name, folder)], in: place.folder)
    case .write(let file, let offset, let bytes):
      let write = UnflushedWrite(offset: offset, bytes: bytes[...])
      files[file]?.visible.apply(write)
      files[file]?.unflushed.append(write)
    case .sync(let file):
      files[file]?.flush()
    case .failedSync(let file):
      files[file]?.detach()
    case .rename(let old, let new, let number):
      if old.folder == new.folder {
        rename([(old.name, nil), (new.name, number)], in: old.folder)
      } else {
        rename([(new.name, number)], in: new.folder)
        rename([(old.name, nil)], in: old.folder)
      }
    case .link(let place, let file):
      rename([(place.name, file)], in: place.folder)
    case .unlink(let place):
      rename([(place.name, nil)], in: place.folder)
    case .syncDirectory(let folder):
      folders[folder]?.flush()
    }
  }

  private mutating func rename(
    _ effects: [(name: [UInt8], number: UInt64?)], in folder: UInt64
  ) {
    let change = NameChange(serial: nameChangeCount, effects: effects)
    nameChangeCount += 1
    folders[folder]?.unflushed.append(change)
  }
}

extension CrashState.File {
  /// A sync that succeeded.
  fileprivate mutating func flush() {
    var detached = unflushed.filter(\.isDetached)
    for write in unflushed where !write.isDetached {
      flushed.apply(write)
      detached = detached.flatMap { $0.without(write.offset..<write.end) }
    }
    unflushed = detached
  }

  /// A sync that failed.
  fileprivate mutating func detach() {
    for index in unflushed.indices { unflushed[index].isDetached = true }
  }
}

extension CrashState.Folder {
  /// A sync that succeeded.
  fileprivate mutating func flush() {
    for change in unflushed { flushed.apply(change) }
    unflushed = []
  }
}

extension CrashState.UnflushedWrite {
  /// The parts of the write in front of and behind a range of the file.
  fileprivate func without(_ range: Range<Int>) -> [Self] {
    guard range.lowerBound < end, range.upperBound > offset else { return [self] }
    let front = bytes.prefix(max(0, range.lowerBound - offset))
    let back = bytes.suffix(max(0, end - range.upperBound))
    return [(offset, front), (end - back.count, back)].filter { !$0.1.isEmpty }
      .map { Self(offset: $0.0, bytes: $0.1, isDetached: isDetached) }
  }
}

extension [[UInt8]: UInt64] {
  mutating func apply(_ change: CrashState.NameChange) {
    for effect in change.effects { self[effect.name] = effect.number }
  }
}

extension PagedBytes {
  mutating func apply(_ write: CrashState.UnflushedWrite) {
    self.write(write.bytes, at: write.offset)
  }

  mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
    bytes.withUnsafeBytes { write($0, at: offset) }
  }
}
