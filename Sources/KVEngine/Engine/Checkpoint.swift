// A checkpoint is a second store that shares its segments with the first by hard links: its cost
// does not depend on how much is stored. The log is never linked, since it goes on; what is in it
// goes into a segment of the copy.
//
// If we die on the way, the target is a folder without MANIFEST that holds segments: it opens as
// damaged, never as an empty store.

extension Writer {
  /// Writes a store with the same content into a folder that must not exist.
  ///
  /// Called with the writer's turn, so that no commit comes in between.
  func checkpoint(to target: StoreLocation) throws(DatabaseError) {
    // The memtable then holds what nobody knows to be stored.
    if case .failed = status { throw .failed }
    let view = state.readView
    do throws(SystemError) {
      try target.files.makeDirectory(target.folder)
    } catch {
      throw Self.notWritten(error)
    }
    var made: [FileName] = []
    do throws(FlushFailure) {
      var manifest = Manifest(
        store: .random(), generation: 1, publishedAt: now, flushedSequence: view.sequence,
        nextFileNumber: 1, logs: [], segments: [], spaces: view.spaces)
      for segment in view.version.segments {
        let name = FileName.segment(segment.descriptor.number)
        made.append(name)
        do throws(SystemError) {
          try share(name, with: target)
        } catch {
          throw FlushFailure.system(error)
        }
        manifest.segments.append(segment.descriptor)
        manifest.nextFileNumber = max(manifest.nextFileNumber, segment.descriptor.number + 1)
      }
      let copy = self.copy(at: target)
      let job = FlushJob(tables: view.tables, images: view.images)
      if !job.isEmpty {
        manifest.segments.append(try copy.makeSegment(job, manifest: &manifest, made: &made))
      }
      try copy.publishFirst(manifest, made: &made)
    } catch {
      for name in made { target.manifest.discard(target.path(name)) }
      throw error.ofNewStore
    }
  }

  /// Links a file into the target, or copies it where links do not reach.
  func share(_ name: FileName, with target: StoreLocation) throws(SystemError) {
    do {
      try target.files.link(location.path(name), to: target.path(name))
    } catch {
      guard error.isLinkRefused else { throw error }
      let source = try location.files.open(location.path(name), .read)
      let byteCount = try source.status().byteCount
      let copy = try target.files.open(target.path(name), .create)
      var offset = 0
      while offset < byteCount {
        let chunk = try source.readBytes(at: offset, count: min(1 << 20, byteCount - offset))
        if chunk.byteCount == 0 { throw SystemError.noProgress(.read, location.path(name)) }
        do throws(WriteFailure) {
          try copy.writeBytes(chunk.bytes, at: offset)
        } catch {
          throw error.cause
        }
        offset += chunk.byteCount
      }
      try copy.sync()
    }
  }

  /// A writer into another folder, for the steps that a flush has as well.
  private func copy(at target: StoreLocation) -> Writer {
    Writer(location: target, options: options, state: state, entry: nil)
  }
}
