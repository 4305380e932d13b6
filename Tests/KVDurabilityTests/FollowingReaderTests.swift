import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// Handles without the lock beside a writer that flushes, merges and removes files all the time:
/// each read sees one complete commit, never an older one than before, and never an error.
@Suite struct FollowingReaderTests {
  private static var options: DatabaseOptions {
    var options = TinyStore.options
    options.descriptorCount = 2
    return options
  }

  private static var reading: DatabaseOptions {
    var options = options
    options.isReadOnly = true
    return options
  }

  private func run(_ files: [any FileSystem], path: String, commitCount: UInt64) throws {
    let writer = try Database(at: path, in: files[0], options: Self.options)
    try writer.write(Self.batch(1))
    let findings = Lock<[String]>([])
    let written = Lock<UInt64>(0)
    onThreads(files.count) { thread in
      do {
        if thread == 0 {
          defer { written.withLock { $0 = .max } }
          for number in 2...commitCount {
            try writer.write(Self.batch(number), durability: .lazy)
            written.withLock { $0 = number }
            if number % 3 == 0 { try writer.flush() }
            if number % 10 == 0 { try writer.compact() }
            if number % 25 == 0 { try writer.suspend() }
            if number % 25 == 0 { try writer.resume() }
          }
          return
        }
        var reader = Reader(try Database(at: path, in: files[thread], options: Self.reading))
        var turn = thread
        while true {
          let before = written.withLock { $0 }
          try reader.read(turn)
          if turn % 4 == 0, before != .max, reader.newest < before { throw Problem("is behind") }
          turn += 1
          if before == .max { break }
        }
        guard try reader.database.value(forKey: [0]).map(Self.number) == commitCount else {
          throw Problem("the end is not seen")
        }
        guard try reader.database.verify().isSound else { throw Problem("is not sound") }
      } catch {
        findings.withLock { $0.append("thread \(thread): \(error)") }
      }
    }
    #expect(findings.withLock { $0 } == [])
    #expect(try writer.verify().isSound)
    try writer.close()
  }

  @Test(.bug(id: "B52")) func everyReadIsOneCompleteCommitInMemory() throws {
    let files = MemoryFileSystem()
    try run(
      [files.process(1), files.process(2), files.process(3)], path: TinyStore.path,
      commitCount: 150)
  }

  @Test(.bug(id: "B52")) func everyReadIsOneCompleteCommitOnDisk() throws {
    let directory = try TemporaryDirectory()
    let files = PosixFileSystem.shared
    try run([files, files, files], path: directory.path("store"), commitCount: 60)
  }

  /// The same with processes of their own.
  @Test(.bug(id: "B52")) func everyReadIsOneCompleteCommitOfAnotherProcess() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    let first = try Database(at: path, options: Self.options)
    try first.write(Self.batch(1))
    try first.close()
    let reader = try Database(at: path, options: Self.reading)
    let isDone = Lock(false)
    let finding = Lock<String?>(nil)
    let group = DispatchGroup()
    group.enter()
    Thread {
      defer { group.leave() }
      do {
        var turns = Reader(reader)
        var turn = 0
        while !isDone.withLock({ $0 }) {
          try turns.read(turn)
          turn += 1
        }
      } catch {
        finding.withLock { $0 = "\(error)" }
      }
    }.start()
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      let writer = try Database(at: path, options: Self.options)
      for number in 2...40 as ClosedRange<UInt64> {
        try writer.write(Self.batch(number), durability: .lazy)
        if number % 2 == 0 { try writer.flush() }
        if number % 7 == 0 { try writer.compact() }
      }
      try writer.close()
    }
    isDone.withLock { $0 = true }
    await withCheckedContinuation { continuation in
      group.notify(queue: .global()) { continuation.resume() }
    }
    #expect(finding.withLock { $0 } == nil)
    #expect(try reader.value(forKey: [1]).map(Self.number) == 40)
  }

  /// A handle of a process.
  private func open(
    _ folder: StoreFolder, process: Int32, _ options: DatabaseOptions = options
  ) throws -> Database {
    try Database(at: folder.path + "/store", in: folder.process(process), options: options)
  }

  /// Files that are gone at once are no damage: a cursor has them open, a short read looks again.
  @Test(arguments: StoreVolume.allCases, [false, true])
  func whatIsRemovedUnderAReaderIsNoDamage(volume: StoreVolume, isHolder: Bool) throws {
    let folder = try StoreFolder(on: volume)
    let path = folder.path + "/store"
    let writer = try open(folder, process: 1)
    for number in 1...9 as ClosedRange<UInt64> {
      try writer.write(Self.batch(number))
      try writer.flush()
    }
    var other: Database
    if isHolder {
      // A handle that held the lock, and opened its snapshot then.
      try writer.close()
      other = try open(folder, process: 2)
      try other.write(Self.batch(10))
      try other.flush()
    } else {
      other = try open(folder, process: 2, Self.reading)
    }
    let last: UInt64 = isHolder ? 10 : 9
    let snapshot = try other.snapshot()
    var cursor = try other.cursor()
    let first = try cursor.next()
    #expect(first.map { Self.number($0.value) } == last)
    if isHolder { try other.suspend() }

    let next = try open(folder, process: 3)
    if !isHolder { try writer.close() }
    let old = Set(try folder.files.list(path))
    for number in 11...20 as ClosedRange<UInt64> {
      try next.write(Self.batch(number))
      try next.compact()
    }
    #expect(old.intersection(try folder.files.list(path)).filter { $0.hasSuffix(".seg") } == [])
    try other.releaseMemory()
    let rest = try Self.entries(&cursor)
    #expect(try Self.commit([try #require(first)] + rest) == last)
    var again = try snapshot.cursor()
    #expect(try Self.commit(Self.entries(&again)) == last)
    #expect(try other.value(forKey: [1]).map(Self.number) == 20)
    #expect(try other.snapshot().sequence == next.snapshot().sequence)
  }

  /// If the MANIFEST in force names a file that is missing, that is damage.
  @Test(arguments: StoreVolume.allCases)
  func aFileThatIsReallyMissingIsDamage(volume: StoreVolume) throws {
    let folder = try StoreFolder(on: volume)
    let path = folder.path + "/store"
    let writer = try open(folder, process: 1)
    try writer.write(Self.batch(1))
    try writer.flush()
    try writer.close()
    let reader = try open(folder, process: 2, Self.reading)
    for name in try folder.files.list(path) where name.hasSuffix(".seg") {
      try folder.files.unlink(path + "/" + name)
    }
    for _ in 0..<2 {
      #expect(throws: DatabaseError.self) { try reader.value(forKey: [1]) }
      #expect(throws: DatabaseError.self) { try reader.snapshot() }
    }
    #expect(try !reader.verify().isSound)
  }

  /// A store that appears, and one that is gone: the first is seen, of the second the last state.
  @Test(arguments: StoreVolume.allCases)
  func aStoreThatAppearsIsSeen(volume: StoreVolume) throws {
    let folder = try StoreFolder(on: volume)
    let early = try open(folder, process: 2)
    #expect(try early.value(forKey: [1]) == nil)
    let writer = try open(folder, process: 1)
    try writer.write(Self.batch(1))
    #expect(try early.value(forKey: [1]).map(Self.number) == 1)
    try writer.write(Self.batch(2), durability: .lazy)
    #expect(try early.value(forKey: [1]).map(Self.number) == 2)
    try writer.close()
    try early.write(Self.batch(3))
    #expect(try early.value(forKey: [1]).map(Self.number) == 3)
  }

  @Test(arguments: StoreVolume.allCases)
  func aLookCostsTwoCallsAndNoneForTheHolder(volume: StoreVolume) throws {
    let folder = try StoreFolder(on: volume)
    let path = folder.path + "/store"
    let (one, two) = (folder.process(1), folder.process(2))
    let writer = try Database(at: path, in: one, options: Self.options)
    try writer.write(Self.batch(1))
    let reader = try Database(at: path, in: two, options: Self.reading)
    let (held, before) = (one.callCount, two.callCount)
    for _ in 0..<5 {
      _ = try writer.currentView()
      _ = try reader.currentView()
    }
    #expect(one.callCount == held)
    #expect(two.callCount == before + 10)
  }

  /// Behind a log whose end is torn nothing is missed, and reads do not begin anew each time.
  @Test(arguments: StoreVolume.allCases)
  func aTornEndIsFollowedToo(volume: StoreVolume) throws {
    let folder = try StoreFolder(on: volume)
    let path = folder.path + "/store"
    let writer = try open(folder, process: 1)
    try writer.write(Self.batch(1))
    let log = try #require(try folder.files.list(path).first { $0.hasSuffix(".log") })
    let file = try folder.files.open(path + "/" + log, .update)
    let end = try writer.pipeline.exclusively { (writer) throws(DatabaseError) -> Int in
      guard case .open(let store) = writer.status else { return 0 }
      return store.log.offset
    }
    try file.write([0x4D, 0x4B, 0x56, 0x52, 9, 0, 0, 0], at: end)
    let reader = try open(folder, process: 2, Self.reading)
    let view = try reader.currentView()
    #expect(try reader.currentView() === view)
    try writer.write(Self.batch(2))
    #expect(try reader.value(forKey: [1]).map(Self.number) == 2)
  }
}
