import KVTestSupport

@testable import KVEngine

/// A store that lives through calls, beside its oracle; a wrong answer throws.
final class ModelRun {
  struct HeldSnapshot {
    let snapshot: Snapshot
    let sequence: UInt64
    let isFollowing: Bool
  }

  private final class HeldCursor {
    var cursor: Cursor
    var position: ModelPosition

    init(_ cursor: consuming Cursor, _ position: ModelPosition) {
      self.cursor = cursor
      self.position = position
    }
  }

  let setting: ModelSetting
  var recording = RecordingFileSystem()
  var database: Database
  private var follower: Database?
  private(set) var model = VersionedModel()
  /// What a power cut leaves at least.
  private var durable: UInt64 = 0
  /// Whether the handle has written: it does not sync what others left.
  private var hasWritten = false
  /// The same, what was acknowledged, and the operations recorded, before the last change.
  private var before: (durable: UInt64, known: UInt64, operationCount: Int) = (0, 0, 0)
  private(set) var snapshots: [HeldSnapshot] = []
  private var cursors: [HeldCursor] = []
  private var killed: [Database] = []
  private var process: Int32 = 1
  private var copyCount = 0
  /// A number for every answer, equal for equal ones.
  private(set) var answers: [UInt64] = []

  init(_ setting: ModelSetting) throws {
    self.setting = setting
    database = Database.inMemory()
    try open()
  }

  // MARK: Opening

  private func open() throws {
    var options = setting.options
    let clock = Lock<Int64>(1_700_000_000_000_000)
    // By two looks, what a MANIFEST dropped is too old to stay.
    options.wallClock = {
      clock.withLock { now in
        now += 400 * 1_000_000
        return now
      }
    }
    (snapshots, cursors) = ([], [])
    // Another in its place: letting go of the handle has to be enough.
    database = Database.inMemory()
    hasWritten = false
    database = try TinyStore.open(in: recording.process(process), options: options)
  }

  private func following() throws -> Database? {
    if let follower { return follower }
    if model.sequence == 0 { return nil }
    var options = setting.options
    options.isReadOnly = true
    follower = try TinyStore.open(in: recording.process(1000), options: options)
    return follower
  }

  private func change(_ body: () throws -> Void) rethrows {
    before = (durable, model.sequence, recording.operationCount)
    try body()
  }

  // MARK: Calls

  func perform(_ call: ModelCall) throws {
    switch call {
    case .write(let operations, let isLazy, let condition):
      try change { try write(operations, isLazy: isLazy, condition) }
    case .deleteRange(let range, let space, let isLazy):
      try change { try delete(range, space: space, isLazy: isLazy) }
    case .get(let key, let source): try get(key, source)
    case .open(let range, let space, let source): try open(range, space, source)
    case .move(let cursor, let isForward): try move(cursor, isForward: isForward)
    case .seek(let cursor, let key, let isForward): try seek(cursor, key, isForward: isForward)
    case .scan(let source): try scan(source)
    case .takeSnapshot(let source):
      if snapshots.count >= 8 { snapshots.removeFirst() }
      snapshots.append(try snapshot(source))
    case .releaseSnapshot(let number):
      if !snapshots.isEmpty { snapshots.remove(at: number % snapshots.count) }
    case .flush: try change { try flush() }
    case .compactStep: try change { try compactStep() }
    case .compact: try change { try compact() }
    case .checkpoint: try change { try checkpoint() }
    case .suspension: try change { try suspendAndResume() }
    case .verify:
      let report = try database.verify()
      guard report.isSound else { throw Problem("is damaged: \(report.damage)") }
    case .releaseMemory:
      try database.releaseMemory()
      try follower?.releaseMemory()
    case .reopen(let isClosed): try change { try reopen(isClosed: isClosed) }
    case .kill: try change { try kill() }
    case .crash(let variant, let seed): try crash(variant, seed)
    }
  }

  private func durability(_ isLazy: Bool) -> Durability {
    setting.durability ?? (isLazy ? .lazy : .full)
  }

  private func write(
    _ operations: [(key: ModelKey, value: ModelValue?)], isLazy: Bool, _ condition: ModelCondition?
  ) throws {
    var batch = WriteBatch()
    // The first space counts its keys: each write says what it does to their number.
    var present: [VersionedModel.Key: Bool] = [:]
    for (key, value) in operations {
      let space = StoreContent.spaces[key.space]
      let wasPresent = present[key.key] ?? (model.value(key.key, at: .max) != nil)
      let isCounted = key.space == 0
      if let value {
        let kind: RecordKind = isCounted && !wasPresent ? .insertion : .put
        batch.put(value.bytes, forKey: key.bytes, in: space, kind: kind)
      } else {
        let kind: RecordKind = isCounted && wasPresent ? .removal : .tombstone
        batch.delete(key.bytes, in: space, kind: kind)
      }
      present[key.key] = value != nil
    }
    let holds = add(condition, to: &batch)
    let durability = durability(isLazy)
    let sequence: UInt64
    do {
      sequence = try database.write(batch, durability: durability)
    } catch {
      guard !holds, error == .preconditionFailed(index: 0) else { throw error }
      answer([0])
      return
    }
    guard holds else { throw Problem("a condition was taken to hold") }
    model.apply(operations.map { ($0.key.key, $0.value?.bytes) })
    guard sequence == model.sequence else { throw Problem("ends at sequence \(sequence)") }
    hasWritten = true
    if durability == .full { durable = sequence }
    if setting.merging == .afterEveryCommit { try mergeAll() }
  }

  private func delete(_ range: ModelRange, space: Int, isLazy: Bool) throws {
    // Plain deletions know nothing of counts.
    let space = max(space, 1)
    let keys = entries(range, space, at: .max).map(\.key)
    let durability = durability(isLazy)
    let count = try database.delete(
      range.keys, in: StoreContent.spaces[space], durability: durability)
    guard count == keys.count else { throw Problem("deletes \(count) of \(keys.count) keys") }
    answer([UInt8(truncatingIfNeeded: count)])
    if keys.isEmpty { return }
    hasWritten = true
    model.apply(keys.map { (VersionedModel.Key(space: space, bytes: $0), nil) })
    if durability == .full { durable = model.sequence }
  }

  private func flush() throws {
    try database.flush()
    hasWritten = true
    durable = model.sequence
  }

  private func compactStep() throws {
    if setting.merging == .never { return }
    while try database.compactor.step(isRequested: false, isCancelled: { false }) {}
  }

  private func compact() throws {
    if setting.merging == .never { return }
    try database.compact()
    hasWritten = true
    durable = model.sequence
  }

  private func mergeAll() throws {
    try flush()
    try compactStep()
  }

  private func checkpoint() throws {
    if model.sequence == 0 { return }
    copyCount += 1
    let path = "/copy\(copyCount)"
    try database.checkpoint(to: path)
    let copy = try Database(at: path, in: recording.process(2000), options: setting.options)
    try check(try copy.countedContent(), at: model.sequence)
    guard try copy.verify().isSound else { throw Problem("the copy is damaged") }
    try copy.close()
  }

  private func suspendAndResume() throws {
    try database.suspend()
    if hasWritten { durable = model.sequence }
    do {
      try database.write { $0.put([1], forKey: [1]) }
      throw Problem("writes while it is suspended")
    } catch {
      guard case DatabaseError.suspended = error else { throw error }
    }
    try scan(.handle)
    try database.resume()
  }

  private func reopen(isClosed: Bool) throws {
    if isClosed {
      try database.close()
      if hasWritten { durable = model.sequence }
    }
    try open()
    try scan(.handle)
  }

  private func kill() throws {
    killed.append(database)
    recording.process(process).base.endProcess()
    process += 1
    try open()
    try scan(.handle)
  }

  private func crash(_ variant: CrashVariant, _ seed: UInt64) throws {
    let now = recording.operationCount
    let first = min(before.operationCount, now)
    let boundary = first + Int(seed % UInt64(now - first + 1))
    let names = recording.nameSeeds(after: boundary)
    let imageSeed = variant == .names ? seed % UInt64(names.count) : seed
    let image = recording.image(after: boundary, variant: variant, seed: imageSeed)
    let isEarlier = boundary < now
    let least =
      variant == .everything
      ? (isEarlier ? before.known : model.sequence) : (isEarlier ? before.durable : durable)
    (follower, killed) = (nil, [])
    recording = RecordingFileSystem(image)
    process += 1
    try open()
    let found = try database.snapshot().sequence
    guard model.commits.contains(found), found >= least else {
      throw Problem("\(variant) leaves sequence \(found), at least \(least) was durable")
    }
    model.cut(to: found)
    (durable, before) = (found, (found, found, 0))
    try scan(.handle)
  }

  // MARK: Reading

  private func snapshot(_ source: ModelSource) throws -> HeldSnapshot {
    if case .snapshot(let number) = source, !snapshots.isEmpty {
      return snapshots[number % snapshots.count]
    }
    if case .follower = source, let follower = try following() {
      let snapshot = try follower.snapshot()
      guard snapshot.sequence == model.sequence else { throw Problem("the follower is behind") }
      return HeldSnapshot(snapshot: snapshot, sequence: model.sequence, isFollowing: true)
    }
    let snapshot = try database.snapshot()
    guard snapshot.sequence == model.sequence else { throw Problem("another sequence") }
    return HeldSnapshot(snapshot: snapshot, sequence: model.sequence, isFollowing: false)
  }

  private func get(_ key: ModelKey, _ source: ModelSource) throws {
    let space = StoreContent.spaces[key.space]
    let found: [UInt8]?
    var sequence = model.sequence
    switch source {
    case .handle: found = try database.value(forKey: key.bytes, in: space)
    case .follower:
      found = try (try following() ?? database).value(forKey: key.bytes, in: space)
    case .snapshot:
      let held = try snapshot(source)
      sequence = held.sequence
      found = try held.snapshot.value(forKey: key.bytes, in: space)
    }
    answer(found ?? [1, 2, 3])
    guard found == model.value(key.key, at: sequence) else { throw Problem("another value") }
  }

  private func entries(
    _ range: ModelRange, _ space: Int, at sequence: UInt64
  ) -> [VersionedModel.Entry] {
    let keys = range.keys
    return model.entries(space: space, from: keys.lower ?? [], upTo: keys.upper, at: sequence)
  }

  private func open(_ range: ModelRange, _ space: Int, _ source: ModelSource) throws {
    let held = try snapshot(source)
    let position = ModelPosition(entries(range, space, at: held.sequence))
    let code = StoreContent.spaces[space]
    if cursors.count >= 4 { cursors.removeFirst() }
    if case .filteredPrefix(let key, let count) = range {
      let prefix = Array(ModelKey.all[key].prefix(count))
      let cursor = try held.snapshot.cursor(withPrefix: prefix, space: code)
      cursors.append(HeldCursor(cursor, position))
    } else {
      let cursor = try held.snapshot.cursor(in: range.keys, space: code)
      cursors.append(HeldCursor(cursor, position))
    }
  }

  private func move(_ number: Int, isForward: Bool) throws {
    if cursors.isEmpty { return }
    let held = cursors[number % cursors.count]
    if isForward {
      _ = try held.cursor.moveForward()
      held.position.moveForward()
    } else {
      _ = try held.cursor.moveBackward()
      held.position.moveBackward()
    }
    try compare(held)
  }

  private func seek(_ number: Int, _ key: ModelKey, isForward: Bool) throws {
    if cursors.isEmpty { return }
    let held = cursors[number % cursors.count]
    if isForward {
      _ = try held.cursor.seek(toFirstKeyAtOrAfter: key.bytes)
      held.position.seek(toFirstKeyAtOrAfter: key.bytes)
    } else {
      _ = try held.cursor.seek(toLastKeyAtOrBefore: key.bytes)
      held.position.seek(toLastKeyAtOrBefore: key.bytes)
    }
    try compare(held)
  }

  private func compare(_ held: HeldCursor) throws {
    let (found, expected) = (held.cursor.entry, held.position.current)
    answer(found?.key ?? [4, 5, 6])
    answer(found?.value ?? [])
    guard found?.key == expected?.key, found?.value == expected?.value else {
      let text = "\(found.map { "\($0.key)" } ?? "nothing")"
      throw Problem("stands at \(text) instead of \(expected.map { "\($0.key)" } ?? "nothing")")
    }
  }

  private func scan(_ source: ModelSource) throws {
    let held = try snapshot(source)
    let content = try held.snapshot.content()
    try check(content, at: held.sequence)
    let count = held.snapshot.count(in: StoreContent.spaces[0])
    guard count == content.entries[0].count else { throw Problem("counts \(count) keys") }
    for entry in content.entries.joined() { answer(entry.key) }
  }

  /// Compares a whole store with the model.
  private func check(_ content: StoreContent, at sequence: UInt64) throws {
    for space in StoreContent.spaces.indices {
      let expected = model.entries(space: space, at: sequence)
        .map { Cursor.Entry(key: $0.key, value: $0.value) }
      guard content.entries[space] == expected else {
        throw Problem("space \(space) at \(sequence) holds something else")
      }
    }
  }

  private func answer(_ bytes: [UInt8]) {
    answers.append(XXH64.hash(bytes.rawBytes))
  }
}
