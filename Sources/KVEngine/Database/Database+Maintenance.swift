/// What a verification read and found.
public struct VerificationReport: Sendable, Equatable {
  /// Everything that does not hold; empty for a sound store.
  public package(set) var damage: [Corruption] = []
  /// Segments that were read.
  public package(set) var segmentCount = 0
  /// Blocks of entries that were read.
  public package(set) var blockCount = 0
  /// Entries of segments and log, older versions and deletions included.
  public package(set) var entryCount = 0
  /// Bytes of the files that were read.
  public package(set) var byteCount = 0

  package init() {}

  package mutating func add(_ corruption: Corruption) {
    damage.append(corruption)
  }

  /// Whether nothing is damaged.
  public var isSound: Bool { damage.isEmpty }
}

extension Database {
  /// Reads every byte of the store as this handle sees it and checks it: checksums, order, bounds,
  /// counts, filters.
  ///
  /// Goes on behind a damaged block, so that the report names all of them. Changes nothing.
  ///
  /// - Throws: ``DatabaseError/io(_:)`` if a file cannot be read; then nothing is known about it.
  /// - Complexity: O(bytes of the store).
  public func verify() throws(DatabaseError) -> VerificationReport {
    try check()
    var view = try currentView()
    var report = VerificationReport()
    while let missing = try verifySegments(of: view, &report) {
      let newer = try currentView()
      if newer === view {
        // The MANIFEST in force names it.
        report.add(missing)
        break
      }
      (view, report) = (newer, VerificationReport())
    }
    try verifyManifestAndLogs(&report)
    return report
  }

  /// Reads all segments of a view.
  ///
  /// - Returns: What to say of a file that is missing, unless the view is out of date.
  private func verifySegments(
    of view: ReadView, _ report: inout VerificationReport
  ) throws(DatabaseError) -> Corruption? {
    var missing: Corruption?
    for segment in view.version.segments {
      let found: SegmentVerification
      do throws(DatabaseError) {
        found = try SegmentVerifier(
          file: try segment.openFile(), fileName: segment.descriptor.fileName,
          reference: segment.descriptor.reference
        ).verify()
      } catch {
        guard case .damaged(let corruption) = error else { throw error }
        if corruption.isMissingSegment, missing == nil { missing = corruption; continue }
        report.add(corruption)
        continue
      }
      report.segmentCount += 1
      report.blockCount += found.blockCount
      report.entryCount += found.entryCount
      report.byteCount += segment.descriptor.byteCount
      report.damage += found.corruptions
    }
    return missing
  }

  /// Makes a copy of the store that opens by itself, in a folder that must not exist.
  ///
  /// Segments are shared by hard links where the volume allows, so neither time nor space depend on
  /// how much is stored. The copy is a store of its own: what is written to one is not in the
  /// other.
  ///
  /// - Parameter path: The folder to make; its parent must exist.
  /// - Throws: ``DatabaseError/diskFull(_:)`` or ``DatabaseError/notWritten(_:)`` if it could not
  /// be
  ///   written; then no complete copy is there. And as ``write(_:durability:)-(WriteBatch,_)``.
  /// - Complexity: O(bytes of the log) plus one link for each segment.
  public func checkpoint(to path: String) throws(DatabaseError) {
    try check()
    let target = StoreLocation(files: location.files, folder: Self.normalized(path))
    _ = try currentView()
    try exclusively { writer throws(DatabaseError) in
      try writer.checkpoint(to: target)
    }
  }

  /// Merges everything that can be merged, as densely as it goes: afterwards deleted keys take no
  /// space, and reads look at as few segments as possible.
  ///
  /// Happens step by step by itself while the app writes; calling it is for the moment after a
  /// large import or deletion. Files that are replaced stay for ten minutes for copies of the
  /// folder. What is written meanwhile is not merged.
  ///
  /// - Throws: ``DatabaseError/diskFull(_:)`` when there is not room enough for a step,
  ///   ``DatabaseError/cancelled`` after ``close()`` or ``suspend()`` by another thread, and as
  ///   ``write(_:durability:)-(WriteBatch,_)``. The steps that ended before stay done; one takes
  ///   up to 512 MiB, or what there is room for.
  /// - Complexity: O(bytes of the store).
  public func compact() throws(DatabaseError) {
    try flush()
    let sequence = state.readView.sequence
    defer { state.metrics.deliver() }
    let isCancelled: @Sendable () -> Bool = {
      self.worker?.relieve(from: CompactionPolicy.crowdedCount)
      return self.isInterrupted
    }
    while try compactor.step(isRequested: true, upTo: sequence, isCancelled: isCancelled) {
      state.metrics.deliver()
    }
  }

  /// Merges as ``compact()`` does, and removes what was replaced at once: afterwards what was
  /// deleted or overwritten before the call stands in no file of the store any more.
  ///
  /// Not so what a snapshot or cursor still sees, which goes when it is let go of, and what a
  /// damaged block keeps from being merged. A copy of the folder that is being made meanwhile may
  /// be incomplete. What the medium keeps of removed files is not in our hands.
  ///
  /// - Throws: As ``compact()``.
  /// - Complexity: O(bytes of the store).
  public func purge() throws(DatabaseError) {
    try compact()
    try exclusively { writer throws(DatabaseError) in writer.removeReplaced() }
  }

  /// MANIFEST and logs as they are on disk now.
  private func verifyManifestAndLogs(_ report: inout VerificationReport) throws(DatabaseError) {
    do throws(DatabaseError) {
      guard case .store(let store) = try Recovery.find(at: location) else { return }
      if let earlier = store.earlier { report.add(earlier.report.corruption) }
      report.byteCount += store.logs.reduce(0) { $0 + $1.bytes.byteCount }
      report.entryCount += store.images.reduce(0) { $0 + $1.entryCount }
    } catch {
      guard case .damaged(let corruption) = error else { throw error }
      report.damage.append(corruption)
    }
    do throws(ManifestFile.ReadFailure) {
      let (damage, byteCount) = try location.manifest.verify()
      report.byteCount += byteCount
      report.damage += damage.filter { !report.damage.contains($0) }
    } catch {
      switch error {
      // Removed since: the first part has said so.
      case .missing: return
      case .failed(let failure): throw failure
      }
    }
  }

  /// What the store's files are now, for tools.
  package func storeSummary() throws(DatabaseError) -> StoreSummary {
    try check()
    guard case .store(let store) = try Recovery.find(at: location) else {
      throw .notFound(fileName: location.folder)
    }
    var summary = StoreSummary(
      identity: store.manifest.store.text, generation: store.manifest.generation,
      sequence: store.lastSequence, segmentCount: store.manifest.segments.count,
      segmentByteCount: store.manifest.segments.reduce(0) { $0 + $1.byteCount },
      logByteCount: store.logs.reduce(0) { $0 + $1.bytes.byteCount },
      logEntryCount: store.images.reduce(0) { $0 + $1.entryCount })
    do throws(SystemError) {
      let live = store.manifest.fileNames
      for text in try location.files.list(location.folder) {
        guard let name = FileName(text), !live.contains(name), name != .manifest,
          name != .oldManifest(store.manifest.generation)
        else { continue }
        do {
          summary.replacedByteCount += try location.files.status(location.path(name)).byteCount
        } catch {
          // Removed by the writer between the list and the look.
          if !error.isNotFound { throw error }
        }
      }
    } catch {
      throw error.readFailure
    }
    return summary
  }
}

/// Sizes and numbers of a store's files.
package struct StoreSummary: Sendable {
  package let identity: String
  package let generation: UInt64
  package let sequence: SequenceNumber
  package let segmentCount: Int
  package let segmentByteCount: Int
  package let logByteCount: Int
  package let logEntryCount: Int
  /// Bytes of files that no live MANIFEST names: they wait out their grace, or a sweep.
  package var replacedByteCount = 0
}
