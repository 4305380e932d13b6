internal import KVEngine
internal import MemoCore

// Looks at a store's files beside a process that may be writing them at full speed: no lock, no
// change. A file that is gone, or a log that was written while it was read, can look like damage;
// it is damage when the next reading, with the MANIFEST that is in force then, finds the same.

/// A store's files as one MANIFEST names them.
struct StoreReading {
  let location: StoreLocation
  let manifest: Manifest

  /// Reads something of a store, again when what it found might come from a change meanwhile.
  ///
  /// A writer removes a file only after the MANIFEST that no longer names it is in force. So a file
  /// that two readings in a row miss is missing.
  ///
  /// - Parameters:
  ///   - store: The path of the folder.
  ///   - body: Reads; it may be called several times. Damage goes into its second parameter.
  /// - Returns: What `body` returned last, and the damage that it found.
  /// - Throws: ``DatabaseError/busy`` when no two readings agree.
  static func read<Result>(
    _ store: String,
    _ body: (StoreReading, inout DamageNotes) throws(DatabaseError) -> Result
  ) throws(MemoError) -> (Result, [Corruption]) {
    do throws(DatabaseError) {
      var suspected: [Corruption]?
      for _ in 0..<attemptCount {
        guard let reading = try open(store) else { continue }
        var damage = DamageNotes()
        let result = try body(reading, &damage)
        if damage.isEmpty || damage.corruptions == suspected {
          return (result, damage.corruptions)
        }
        suspected = damage.corruptions
      }
      throw DatabaseError.busy
    } catch {
      throw .database(error)
    }
  }

  private static let attemptCount = 100

  /// Reads the MANIFEST in force; `nil` when one appeared only after it was looked for.
  private static func open(_ store: String) throws(DatabaseError) -> StoreReading? {
    let location = StoreLocation(files: PosixFileSystem.shared, folder: store)
    do throws(ManifestFile.ReadFailure) {
      return StoreReading(location: location, manifest: try location.manifest.read().0)
    } catch {
      if case .failed(let failure) = error { throw failure }
      if case .store = try Recovery.find(at: location) { return nil }
      throw .notFound(fileName: store)
    }
  }

  /// Opens a file that the MANIFEST names.
  func open(_ name: FileName) throws(DatabaseError) -> any File {
    do throws(SystemError) {
      return try location.files.open(location.path(name), .read)
    } catch {
      guard error.isNotFound else { throw error.readFailure }
      throw .damaged(
        Corruption(
          fileName: name.text, offset: 0, structure: "file",
          reason: "is missing though the MANIFEST names it"))
    }
  }

  /// The sizes of all files in the folder.
  func sizes() throws(DatabaseError) -> [(name: String, byteCount: Int)] {
    try readingFiles { () throws(SystemError) in
      var sizes: [(name: String, byteCount: Int)] = []
      for name in try location.files.list(location.folder) {
        do throws(SystemError) {
          let status = try location.files.status(location.folder + "/" + name)
          sizes.append((name, status.byteCount))
        } catch {
          // Removed by the writer between the list and the look.
          if !error.isNotFound { throw error }
        }
      }
      return sizes
    }
  }

  /// The replaced MANIFESTs in the folder, newest first, each with what was found in it.
  static func earlierManifests(
    at location: StoreLocation
  ) throws(DatabaseError) -> [(generation: UInt64, finding: Result<Manifest, DatabaseError>)] {
    let names = try readingFiles { () throws(SystemError) in
      try location.files.list(location.folder).compactMap { FileName($0) }
    }
    var found: [(generation: UInt64, finding: Result<Manifest, DatabaseError>)] = []
    for name in names {
      guard case .oldManifest(let generation) = name else { continue }
      do throws(ManifestFile.ReadFailure) {
        found.append((generation, .success(try location.manifest.read(name).0)))
      } catch {
        // One that is missing now has waited long enough.
        if case .failed(let failure) = error { found.append((generation, .failure(failure))) }
      }
    }
    return found.sorted { $0.generation > $1.generation }
  }

  /// What is in the logs, oldest first, up to the first damage in each.
  func logs() throws(DatabaseError) -> [LogReading] {
    var logs: [LogReading] = []
    for number in manifest.logs {
      var log = try log(number)
      // Behind a log that cannot be read, nothing can be said of where the next one begins.
      let previous = logs.last
      if let contents = log.contents, previous?.isComplete ?? true {
        try log.damage.noting { () throws(DatabaseError) in
          try Recovery.check(
            contents, after: previous?.contents,
            expecting: previous?.contents?.lastSequence ?? manifest.flushedSequence)
        }
      }
      logs.append(log)
    }
    return logs
  }

  /// What is in a log, up to the first damage.
  private func log(_ number: UInt64) throws(DatabaseError) -> LogReading {
    let name = FileName.log(number)
    var log = LogReading(number: number)
    guard let file = try log.damage.noting({ () throws(DatabaseError) in try open(name) })
    else { return log }
    log.byteCount = try readingFiles { () throws(SystemError) in try file.status().byteCount }
    log.contents = try log.damage.noting { () throws(DatabaseError) in
      try LogReader.contents(of: file, number: number, store: manifest.store)
    }
    // Cut where the damage begins, the log is one that ends there.
    if log.contents == nil, let end = log.damage.corruptions.last?.offset,
      end >= LogFormat.headByteCount
    {
      let bytes = try readingFiles { () throws(SystemError) in
        try file.readBytes(at: 0, count: end)
      }
      log.contents = try? LogReader.contents(of: bytes, number: number, store: manifest.store)
    }
    if let contents = log.contents {
      log.image = try log.damage.noting { () throws(DatabaseError) in
        do throws(FormatError) {
          return try LogImage(contents)
        } catch {
          throw .damaged(Corruption(error, fileName: name.text))
        }
      }
    }
    return log
  }
}

/// What could be read of a log.
struct LogReading {
  let number: UInt64
  var byteCount = 0
  var contents: LogContents?
  var image: LogImage?
  var damage = DamageNotes()

  init(number: UInt64) {
    self.number = number
  }

  var fileName: String { FileName.log(number).text }
  var isComplete: Bool { contents != nil && damage.isEmpty }
}

/// Damage that was found and did not end the reading.
struct DamageNotes {
  private(set) var corruptions: [Corruption] = []

  var isEmpty: Bool { corruptions.isEmpty }

  mutating func add(_ more: [Corruption]) {
    corruptions += more.filter { !corruptions.contains($0) }
  }

  /// Does a part of the work; damage is noted and ends that part only.
  @discardableResult
  mutating func noting<Value>(
    _ body: () throws(DatabaseError) -> Value
  ) throws(DatabaseError) -> Value? {
    do {
      return try body()
    } catch {
      guard case .damaged(let corruption) = error else { throw error }
      add([corruption])
      return nil
    }
  }
}
