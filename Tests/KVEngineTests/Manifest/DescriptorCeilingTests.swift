import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// However many segments there are, few are open.
@Suite struct DescriptorCeilingTests {
  private func store(on volume: StoreVolume, descriptorCount: Int) throws -> StoreSample {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.descriptorCount = descriptorCount
    store.options.cacheByteCount = 0
    return store
  }

  /// Segments with disjoint keys.
  private func makeSegments(_ count: UInt8, in database: Database) throws {
    for number in 0..<count {
      var batch = WriteBatch()
      for key in 0..<8 as Range<UInt8> { batch.put([number, key], forKey: [number, key]) }
      try database.write(batch)
      try database.flush()
    }
    #expect(try database.statistics().segmentCount == count)
  }

  @Test(arguments: StoreVolume.allCases, [1, 3, 0, 100])
  func readsAreRightAndFewFilesOpen(volume: StoreVolume, descriptorCount: Int) throws {
    let store = try store(on: volume, descriptorCount: descriptorCount)
    let files = CountingFileSystem(store.files)
    let database = try store.open(in: files)
    try makeSegments(12, in: database)
    let ceiling = max(1, descriptorCount)
    for round in 0..<3 as Range<UInt8> {
      for number in 0..<12 as Range<UInt8> {
        let key = [number * 5 % 12, round]
        #expect(try database.value(forKey: key) == key)
        #expect(files.openSegmentCount <= ceiling)
      }
    }
    #expect(files.openSegmentCount == min(ceiling, 12))
    #expect(try StoreSample.contents(database).count == 96)
    #expect(files.openSegmentCount <= ceiling)

    // A cursor keeps what it reads; that comes on top, and ends with it.
    var cursor = try database.cursor(in: .prefix([3]))
    let first = try cursor.next()
    #expect(first?.key == [3, 0])
    for number in 4..<12 as Range<UInt8> {
      #expect(try database.value(forKey: [number, 0]) == [number, 0])
      #expect(files.openSegmentCount <= ceiling + 1)
    }
    var found = 1
    while let entry = try cursor.next() {
      #expect(entry.key == entry.value)
      found += 1
    }
    #expect(found == 8)
    try database.releaseMemory()
    #expect(files.openSegmentCount <= 1)
    #expect(try database.value(forKey: [0, 0]) == [0, 0])
  }

  @Test(arguments: StoreVolume.allCases)
  func withoutDescriptorsOneReadFailsOrNone(volume: StoreVolume) throws {
    let store = try store(on: volume, descriptorCount: 4)
    let counting = CountingFileSystem(store.files)
    let files = FaultFileSystem(counting)
    let database = try store.open(in: files)
    try makeSegments(6, in: database)
    for code in [EMFILE, ENFILE] {
      for number in 0..<6 as Range<UInt8> {
        // Others are open: closing them cures it.
        #expect(try database.value(forKey: [(number + 1) % 6, 1]) != nil)
        files.plan(Fault(.error(code), at: 1, of: [.open]))
        #expect(try database.value(forKey: [number, 1]) == [number, 1])
        files.plan()
      }
      try database.releaseMemory()
      files.plan(Fault(.error(code), at: 1, of: [.open], isLasting: true))
      do throws(DatabaseError) {
        _ = try database.value(forKey: [0, 1])
        Issue.record("read without a descriptor")
      } catch {
        guard case .io(let failure) = error else { throw error }
        #expect(failure.code == code)
      }
      files.plan()
      #expect(try StoreSample.contents(database).count == 48)
      #expect(counting.openSegmentCount <= 4)
    }
    try database.releaseMemory()
    #expect(counting.openSegmentCount == 0)
  }

  @Test(arguments: StoreVolume.allCases)
  func segmentsThatEndWhileOthersAreClosedDoNoHarm(volume: StoreVolume) throws {
    let database = try store(on: volume, descriptorCount: 1).open()
    try makeSegments(6, in: database)
    let findings = Findings()
    onThreads(4) { thread in
      for round in 0..<60 as Range<UInt8> {
        findings.catching("thread \(thread)") {
          if thread == 0, round % 6 == 0 {
            try database.put([round], [100, round])
            try database.compact()
          } else {
            let key = [round % 6, UInt8(thread)]
            findings.check(try database.value(forKey: key) == key, "\(key)")
          }
        }
      }
    }
    #expect(findings.all == [])
    #expect(try StoreSample.contents(database).count == 58)
  }
}

/// Counts the segments that are open for reading.
private final class CountingFileSystem: FileSystem {
  private let base: any FileSystem
  private let count = SharedLock(0)

  init(_ base: any FileSystem) {
    self.base = base
  }

  var openSegmentCount: Int { count.withLock { $0 } }
  var processNumber: Int32 { base.processNumber }

  func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    let file = try base.open(path, mode)
    guard mode == .read, path.hasSuffix(".seg") else { return file }
    return CountedFile(file, count)
  }

  func status(_ path: String) throws(SystemError) -> FileStatus { try base.status(path) }
  func list(_ path: String) throws(SystemError) -> [String] { try base.list(path) }
  func makeDirectory(_ path: String) throws(SystemError) { try base.makeDirectory(path) }
  func rename(_ source: String, to target: String) throws(SystemError) {
    try base.rename(source, to: target)
  }
  func link(_ source: String, to target: String) throws(SystemError) {
    try base.link(source, to: target)
  }
  func unlink(_ path: String) throws(SystemError) { try base.unlink(path) }
  func syncDirectory(_ path: String) throws(SystemError) { try base.syncDirectory(path) }
  func lock(_ path: String) throws(SystemError) -> any FileLock { try base.lock(path) }
  func freeByteCount(_ path: String) throws(SystemError) -> Int { try base.freeByteCount(path) }
}

private final class CountedFile: File {
  private let base: any File
  private let count: SharedLock<Int>

  init(_ base: any File, _ count: SharedLock<Int>) {
    self.base = base
    self.count = count
    count.withLock { $0 += 1 }
  }

  deinit {
    count.withLock { $0 -= 1 }
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try base.read(at: offset, into: buffer)
  }
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try base.write(buffer, at: offset)
  }
  func sync() throws(SystemError) { try base.sync() }
  func status() throws(SystemError) -> FileStatus { try base.status() }
}
