// A store that is written as a whole, for a salvage.
//
// If we die on the way, the folder holds segments and no MANIFEST: it opens as damaged, never as an
// empty store.

/// A store that is made of sorted runs of entries in a folder that was missing or empty.
///
/// Used in this order: the entries of one space by ``append(key:tag:value:)``, ``endRun()``, the
/// same for other spaces, ``publish(upTo:spaces:)``. After a failure, ``discard()`` only.
package struct NewStore: ~Copyable {
  private let location: StoreLocation
  private var sink: NewSegments
  private var output: SegmentOutput
  private var run: [SegmentSummary] = []
  private var segments: [SegmentDescriptor] = []

  /// Makes the folder; an empty one may have been made for it.
  ///
  /// - Throws: ``DatabaseError/diskFull(_:)`` or ``DatabaseError/notWritten(_:)``.
  package init(at location: StoreLocation, options: DatabaseOptions) throws(DatabaseError) {
    do throws(SystemError) {
      do {
        try location.files.makeDirectory(location.folder)
      } catch {
        guard error.isExisting, try location.files.list(location.folder).isEmpty else {
          throw error
        }
      }
    } catch {
      throw Writer.notWritten(error)
    }
    self.location = location
    // A writer for the steps that a flush has as well; nobody reads through its state.
    let state = EngineState(
      .empty,
      segments: OpenSegments(files: location.files, folder: location.folder, options: options),
      metrics: Metrics(handler: nil), gaps: GapNotes(isEnabled: false))
    let writer = Writer(location: location, options: options, state: state, entry: nil)
    sink = NewSegments(writer: writer)
    output = SegmentOutput(
      .replacement(isDense: false), segmentByteCount: writer.compactionPolicy.segmentByteCount,
      options: options)
  }

  /// Adds an entry behind all others of its space; the key begins with the space byte.
  ///
  /// - Throws: As ``publish(upTo:spaces:)``.
  package mutating func append(
    key: [UInt8], tag: EntryTag, value: [UInt8]
  ) throws(DatabaseError) {
    do throws(JobFailure) {
      if let full = try output.append(key.rawBytes, tag, value.rawBytes, &sink) {
        run.append(full)
      }
    } catch {
      throw Writer.FlushFailure(error).ofNewStore
    }
  }

  /// Ends the entries of a space; does nothing when there were none.
  ///
  /// - Throws: As ``publish(upTo:spaces:)``.
  package mutating func endRun() throws(DatabaseError) {
    do throws(JobFailure) {
      if let last = try output.finish() { run.append(last) }
    } catch {
      throw Writer.FlushFailure(error).ofNewStore
    }
    let tier = sink.writer.compactionPolicy.tier(
      ofByteCount: run.reduce(0) { $0 + $1.byteCount })
    segments += run.map { SegmentDescriptor($0, tier: tier) }
    run = []
  }

  /// Makes it a store, durable when this returns, whose writes continue above a sequence.
  ///
  /// - Throws: ``DatabaseError/diskFull(_:)`` or ``DatabaseError/notWritten(_:)``, and
  ///   ``DatabaseError/damaged(_:)`` or ``DatabaseError/io(_:)`` when a segment does not read back.
  package mutating func publish(
    upTo sequence: SequenceNumber, spaces: [NamedSpace]
  ) throws(DatabaseError) {
    let manifest = Manifest(
      store: .random(), generation: 1, publishedAt: sink.writer.now, flushedSequence: sequence,
      nextFileNumber: sink.nextFileNumber, logs: [], segments: segments, spaces: spaces)
    do throws(Writer.FlushFailure) {
      try sink.writer.publishFirst(manifest, made: &sink.made)
    } catch {
      throw error.ofNewStore
    }
  }

  /// Removes the files that were made; the folder stays.
  package func discard() {
    for name in sink.made { location.manifest.discard(location.path(name)) }
  }
}

extension Writer {
  /// Begins a new store's log and publishes its first MANIFEST, with the folder's own name.
  func publishFirst(
    _ first: Manifest, made: inout [FileName]
  ) throws(FlushFailure) {
    var manifest = first
    let preamble = LogPreamble(
      lastSequence: manifest.flushedSequence, predecessor: 0, predecessorByteCount: 0,
      predecessorLastSequence: 0, predecessorChain: 0)
    _ = try beginLog(after: preamble, manifest: &manifest, made: &made)
    do throws(ManifestFile.PublishFailure) {
      _ = try location.manifest.publish(manifest)
    } catch {
      switch error {
      case .unchanged(let cause), .unknown(let cause): throw FlushFailure.system(cause)
      }
    }
    do throws(SystemError) {
      try location.files.syncDirectory(location.parent)
    } catch {
      throw .system(error)
    }
  }
}

extension Writer.FlushFailure {
  /// What it means to who makes a store: that there is none.
  var ofNewStore: DatabaseError {
    switch self {
    case .system(let cause), .final(let cause): Writer.notWritten(cause)
    case .database(let failure): failure
    }
  }
}
