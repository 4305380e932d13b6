internal import KVEngine
internal import MemoCore

/// Where the bytes of a store are.
struct SpaceUsage {
  /// What one space has in the segments.
  struct Share {
    let code: UInt8
    /// Bytes of its blocks by tier.
    var tiers: [Int: Int] = [:]
    var entryCount = 0
    var tombstoneCount = 0
    /// How segments and logs change the number of live keys.
    var change = 0

    init(code: UInt8) {
      self.code = code
    }

    var byteCount: Int { tiers.values.reduce(0, +) }
    /// Whether every write of the space says how it changes the number of keys.
    var isCounted: Bool { code == MemoSpace.memos.code }

    /// Entries of the segments that a compaction would keep; where nobody counts, at most so many:
    /// each deletion has its key's older entries go, and goes with them.
    var liveCount: Int {
      min(max(0, isCounted ? change : entryCount - tombstoneCount), entryCount)
    }

    /// Bytes of the blocks that are live, as far as entries are of one size.
    var liveByteCount: Int {
      entryCount == 0 ? 0 : Int(Double(byteCount) * Double(liveCount) / Double(entryCount))
    }
  }

  /// What a file is for.
  enum Role: CaseIterable {
    case segments, log, manifest, reserve
    /// Named by a replaced MANIFEST, or such a MANIFEST itself.
    case retired
    /// Not named by any MANIFEST.
    case pinned
    /// Being written, or left by a process that died while writing.
    case unfinished
    /// Not the store's.
    case foreign
  }

  let manifest: Manifest
  /// Ascending by code.
  private(set) var shares: [Share] = []
  private var roles: [Role: (fileCount: Int, byteCount: Int)] = [:]

  /// Adds up what MANIFESTs, logs and folder say; no segment is read.
  init(_ store: StoreReading, _ damage: inout DamageNotes) throws(DatabaseError) {
    manifest = store.manifest
    let logs = try store.logs()
    for log in logs { damage.add(log.damage.corruptions) }
    shares = Self.shares(of: manifest, logs)
    let earlier = try StoreReading.earlierManifests(at: store.location)
    let retired = earlier.reduce(into: Set<FileName>()) { names, item in
      if let manifest = try? item.finding.get() { names.formUnion(manifest.fileNames) }
    }
    let sizes = try store.sizes()
    for (name, byteCount) in sizes
    where FileName(name) != .oldManifest(manifest.generation) {
      let role = Self.role(of: FileName(name), in: manifest, retired: retired)
      let before = roles[role] ?? (0, 0)
      roles[role] = (before.fileCount + 1, before.byteCount + byteCount)
    }
    for segment in manifest.segments {
      let found = sizes.first { $0.name == segment.fileName }?.byteCount
      if found == segment.byteCount { continue }
      let reason = found.map { "has \($0) bytes, not \(segment.byteCount)" }
      damage.add([
        Corruption(
          fileName: segment.fileName, offset: min(found ?? 0, segment.byteCount),
          structure: "file", reason: reason ?? "is missing though the MANIFEST names it")
      ])
    }
  }

  private static func shares(of manifest: Manifest, _ logs: [LogReading]) -> [Share] {
    var shares: [UInt8: Share] = [:]
    for segment in manifest.segments {
      for space in segment.spaces {
        var share = shares[space.code] ?? Share(code: space.code)
        share.tiers[segment.tier, default: 0] += space.byteCount
        share.entryCount += space.entryCount
        share.tombstoneCount += space.tombstoneCount
        share.change += space.change
        shares[space.code] = share
      }
    }
    for code in shares.keys {
      for log in logs { shares[code]?.change += log.image?.changes[code] ?? 0 }
    }
    return shares.values.sorted { $0.code < $1.code }
  }

  private static func role(
    of name: FileName?, in manifest: Manifest, retired: Set<FileName>
  ) -> Role {
    guard let name else { return .foreign }
    switch name {
    case .manifest, .lock: return .manifest
    case .reserve: return .reserve
    case .oldManifest: return .retired
    case .temporary: return .unfinished
    case .log(let number), .segment(let number):
      if manifest.fileNames.contains(name) {
        if case .log = name { return .log }
        return .segments
      }
      if retired.contains(name) { return .retired }
      return number >= manifest.nextFileNumber ? .unfinished : .pinned
    }
  }

  func fileCount(_ role: Role) -> Int { roles[role]?.fileCount ?? 0 }
  func byteCount(_ role: Role) -> Int { roles[role]?.byteCount ?? 0 }
  var totalByteCount: Int { roles.values.reduce(0) { $0 + $1.byteCount } }

  /// Tiers that hold anything, ascending.
  var tiers: [Int] { Set(manifest.segments.map(\.tier)).sorted() }
  /// Bytes of all blocks of entries, and those that are live.
  var dataByteCount: Int { shares.reduce(0) { $0 + $1.byteCount } }
  var liveByteCount: Int { shares.reduce(0) { $0 + $1.liveByteCount } }
}
