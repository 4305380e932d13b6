// The first write at an earlier state makes it the newest one: everything in it goes into segments,
// and a MANIFEST is published whose generation, next file number and flushed sequence are above all
// that any file shows. Nothing that the state does not name is lost by that: before, it gets a name
// in a folder of its own.
//
// If we die before the rename of the MANIFEST, the folder opens as before, since files only got
// further names; after it, as the new state.

extension Writer {
  /// Links newer files than a state names, and what is damaged, into a folder inside the store.
  func setAside(_ earlier: EarlierFinding, of found: RecoveredStore) throws(SystemError) {
    let live = found.manifest.fileNames
    let torn = Set(found.logs.filter { !$0.isCleanlyEnded }.map { FileName.log($0.number) })
    let names = try location.files.list(location.folder).compactMap { FileName($0) }
    let kept = names.filter { name in
      switch name {
      case .manifest: true
      case .oldManifest(let generation): generation > found.manifest.generation
      case .log(let number), .segment(let number):
        torn.contains(name) || !live.contains(name) && number >= found.manifest.nextFileNumber
      case .lock, .reserve, .temporary: false
      }
    }
    if kept.isEmpty { return }
    let folder = FileName.setAsideFolder(earlier.report.newestGeneration + 1)
    let target = StoreLocation(files: location.files, folder: location.folder + "/" + folder)
    do {
      try target.files.makeDirectory(target.folder)
    } catch {
      guard error.isExisting else { throw error }
    }
    for name in kept {
      // Left by an attempt that failed or ended with its process.
      target.manifest.discard(target.path(name))
      try share(name, with: target)
    }
    // Its own name is made durable with the publish.
    try target.files.syncDirectory(target.folder)
  }

  /// Publishes the earlier state that was just adopted, in place of everything newer.
  ///
  /// When that fails, the lock is not kept: the log must get no record, and no MANIFEST may name
  /// it.
  mutating func renew(_ found: RecoveredStore) throws(DatabaseError) {
    do throws(DatabaseError) {
      try flush()
    } catch {
      if case .open = status {
        status = .idle
        state.follow(found.following)
      }
      throw error
    }
  }
}
