// Finds the newest state that is complete when the newest one of all is not: in a copy of the
// folder that was made file by file, or after damage.
//
// A listing of the folder that was made while generation g was in force holds `MANIFEST-g` and all
// files that it names, and these stay for a generation and ten minutes. So a copy of that listing
// is at least this state, as far as the log had come when it was copied. A log that was copied
// piece by piece while it grew has a hole; what stood there when the folder was listed is in front
// of it.

/// What a folder shows beside the state that was opened.
package struct EarlierFinding: Sendable {
  package let report: EarlierState
  /// The highest sequence that any MANIFEST or log shows.
  let lastSequence: SequenceNumber
  /// Above the numbers of all files, and of those that any MANIFEST names.
  let nextFileNumber: UInt64
}

extension Recovery {
  /// What was found in a folder, whichever state it belongs to.
  private struct Traces {
    var manifests: [(name: FileName, manifest: Manifest)] = []
    var generation: UInt64 = 0
    var sequence: SequenceNumber = 0
    var nextFileNumber: UInt64 = 1
  }

  /// The newest complete state; `nil` when there is none.
  ///
  /// - Throws: ``DatabaseError/unsupportedFormat(fileName:found:known:)`` when a MANIFEST is of a
  ///   newer library; ``DatabaseError/io(_:)`` or ``DatabaseError/notAvailableYet(_:)``.
  /// - Complexity: O(bytes of all MANIFESTs and logs in the folder).
  static func findEarlier(
    at location: StoreLocation, origin: ManifestFile.Origin?, because corruption: Corruption
  ) throws(DatabaseError) -> RecoveredStore? {
    let traces = try traces(at: location)
    for (name, manifest) in traces.manifests {
      do throws(DatabaseError) {
        try checkSegments(of: manifest, at: location)
        let (logs, isWhole) = try readableLogs(of: manifest, at: location)
        // The damage is gone: it was a change by a writer.
        if name == .manifest, isWhole, let origin {
          return try recover(manifest, origin: origin, at: location)
        }
        let last = logs.last?.lastSequence ?? manifest.flushedSequence
        let report = EarlierState(
          corruption: corruption, generation: manifest.generation,
          newestGeneration: traces.generation,
          missingSequences: last < traces.sequence ? last + 1...traces.sequence : nil)
        let earlier = EarlierFinding(
          report: report, lastSequence: traces.sequence, nextFileNumber: traces.nextFileNumber)
        return try RecoveredStore(
          manifest: manifest, origin: origin, logs: logs, liveLog: nil, earlier: earlier)
      } catch {
        // The next one may be complete.
        guard case .damaged = error else { throw error }
      }
    }
    return nil
  }

  /// Reads all MANIFESTs, newest first, and what all files show.
  private static func traces(at location: StoreLocation) throws(DatabaseError) -> Traces {
    var traces = Traces()
    var logs: [UInt64] = []
    let names = try readingFiles { () throws(SystemError) in
      try location.files.list(location.folder).compactMap { FileName($0) }
    }
    for name in names {
      switch name {
      case .manifest:
        try read(name, at: location, &traces)
      case .oldManifest(let generation):
        traces.generation = max(traces.generation, plausible(generation))
        try read(name, at: location, &traces)
      case .log(let number):
        logs.append(number)
        traces.nextFileNumber = max(traces.nextFileNumber, plausible(number) + 1)
      case .segment(let number):
        traces.nextFileNumber = max(traces.nextFileNumber, plausible(number) + 1)
      case .lock, .reserve, .temporary: continue
      }
    }
    // Of two names of one generation that of the state in force first.
    traces.manifests.sort {
      ($0.manifest.generation, $0.name == .manifest ? 1 : 0)
        > ($1.manifest.generation, $1.name == .manifest ? 1 : 0)
    }
    guard let store = traces.manifests.first?.manifest.store else { return traces }
    for number in logs {
      guard let bytes = try bytes(ofLog: number, at: location) else { continue }
      traces.sequence = max(
        traces.sequence, LogReader.highestSequence(in: bytes, number: number, store: store))
    }
    return traces
  }

  /// A number in the name of a file, unless counting on from it could reach the end of all numbers.
  private static func plausible(_ number: UInt64) -> UInt64 {
    number < Limits.Manifest.numberBound / 2 ? number : 0
  }

  private static func read(
    _ name: FileName, at location: StoreLocation, _ traces: inout Traces
  ) throws(DatabaseError) {
    do throws(ManifestFile.ReadFailure) {
      let manifest = try location.manifest.read(name).0
      traces.manifests.append((name, manifest))
      traces.generation = max(traces.generation, manifest.generation)
      traces.sequence = max(traces.sequence, manifest.flushedSequence)
      traces.nextFileNumber = max(traces.nextFileNumber, manifest.nextFileNumber)
    } catch {
      switch error {
      case .missing, .failed(.damaged): return
      case .failed(let failure): throw failure
      }
    }
  }

  /// The bytes of a log as far as any log goes; `nil` when it is missing.
  static func bytes(
    ofLog number: UInt64, at location: StoreLocation
  ) throws(DatabaseError) -> ByteBuffer? {
    do throws(SystemError) {
      let file = try location.files.open(location.path(.log(number)), .read)
      let byteCount = min(try file.status().byteCount, Limits.Log.maximumByteCount)
      return try file.readBytes(at: 0, count: byteCount)
    } catch {
      if error.isNotFound { return nil }
      throw error.readFailure
    }
  }

  /// The logs of a state up to the first damage inside one.
  ///
  /// - Returns: The logs, and whether there is no such damage.
  /// - Throws: ``DatabaseError/damaged(_:)`` when a log is missing or does not begin.
  private static func readableLogs(
    of manifest: Manifest, at location: StoreLocation
  ) throws(DatabaseError) -> (logs: [LogContents], isWhole: Bool) {
    var logs: [LogContents] = []
    var lastSequence = manifest.flushedSequence
    for number in manifest.logs {
      let missing = Corruption(
        fileName: FileName.log(number).text, offset: 0, structure: "log", reason: "is missing")
      guard let bytes = try bytes(ofLog: number, at: location) else { throw .damaged(missing) }
      let (found, damage) = try LogReader.readablePrefix(
        of: bytes, number: number, stores: [manifest.store])
      guard let contents = found else { throw .damaged(damage ?? missing) }
      try check(contents, after: logs.last, expecting: lastSequence)
      lastSequence = contents.lastSequence
      logs.append(contents)
      if damage != nil { return (logs, false) }
    }
    return (logs, true)
  }
}
