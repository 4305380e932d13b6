// Which files may go. A file that a MANIFEST dropped stays for one generation and ten minutes, so
// that a copy of the folder made file by file opens as one state (FORMAT.md 11.9).
//
// The rule is kept by keeping the replaced MANIFESTs that long: what any of them names stays with
// it. Age is the wall clock of the publish that replaced it, because a process that lives for a
// second must be able to clean up too; a clock that jumps can only shorten the grace of copies,
// never remove a live file.

/// The replaced MANIFESTs of a store and what they keep alive.
package struct ObsoleteFiles {
  private struct Retired {
    let generation: UInt64
    /// When the next generation replaced it, microseconds since 1970.
    let replacedAt: Int64
    let fileNames: Set<FileName>
  }

  /// What earlier processes left is looked at once, with the first sweep.
  private var retired: [Retired] = []
  private var hasLooked = false

  package init() {}

  /// Keeps nothing any more for the sake of MANIFESTs that were replaced until now.
  mutating func endGrace() {
    retired = []
    hasLooked = true
  }

  /// Notes that a MANIFEST was replaced by the next generation.
  package mutating func retire(_ manifest: Manifest, replacedAt: Int64) {
    retired.append(
      Retired(
        generation: manifest.generation, replacedAt: replacedAt, fileNames: manifest.fileNames))
  }

  /// Removes what nothing needs any more.
  ///
  /// The lock must be held.
  ///
  /// Nothing is removed that could not be judged: a folder that cannot be listed, or a replaced
  /// MANIFEST that cannot be read, ends the sweep (rule F11: removing is never an error).
  ///
  /// - Returns: How many names were removed.
  package mutating func sweep(
    _ location: StoreLocation, keeping current: Manifest, now: Int64,
    isHeld: (UInt64) -> Bool
  ) -> Int {
    let names: [FileName]
    do throws(SystemError) {
      names = try location.files.list(location.folder).compactMap { FileName($0) }
    } catch {
      return 0
    }
    if !hasLooked {
      guard let found = Self.look(at: names, location, current: current) else { return 0 }
      let known = Set(retired.map(\.generation))
      retired = (retired + found.filter { !known.contains($0.generation) })
      hasLooked = true
    }
    let grace = Int64(Limits.Manifest.graceSeconds) * 1_000_000
    retired.removeAll { manifest in
      manifest.generation + 1 < current.generation && now - manifest.replacedAt >= grace
    }
    let kept = retired.reduce(into: current.fileNames) { $0.formUnion($1.fileNames) }
    let keptGenerations = Set(retired.map(\.generation))

    var removed = 0
    for name in names {
      let isNeeded =
        switch name {
        case .lock, .manifest, .reserve: true
        case .oldManifest(let generation):
          generation == current.generation || keptGenerations.contains(generation)
        // A number from `nextFileNumber` on may be a job's output that is not published yet.
        case .log(let number): kept.contains(name) || number >= current.nextFileNumber
        case .segment(let number):
          kept.contains(name) || number >= current.nextFileNumber || isHeld(number)
        case .temporary: false
        }
      if isNeeded { continue }
      location.manifest.discard(location.path(name))
      removed += 1
    }
    return removed
  }

  /// The replaced MANIFESTs in the folder; `nil` when one of them cannot be read.
  private static func look(
    at names: [FileName], _ location: StoreLocation, current: Manifest
  ) -> [Retired]? {
    var manifests: [Manifest] = []
    for name in names {
      // One above the generation in force never was in force: it keeps nothing.
      guard case .oldManifest(let generation) = name, generation < current.generation else {
        continue
      }
      do throws(ManifestFile.ReadFailure) {
        let manifest = try location.manifest.read(name).0
        if manifest.store == current.store { manifests.append(manifest) }
      } catch {
        // A damaged one keeps nothing alive and goes with this sweep.
        guard case .failed(.damaged) = error else { return nil }
      }
    }
    manifests.sort { $0.generation < $1.generation }
    let replacements = manifests.dropFirst().map(\.publishedAt) + [current.publishedAt]
    return zip(manifests, replacements).map { manifest, replacedAt in
      Retired(
        generation: manifest.generation, replacedAt: replacedAt, fileNames: manifest.fileNames)
    }
  }
}
