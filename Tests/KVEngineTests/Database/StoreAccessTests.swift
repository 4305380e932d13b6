import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// Stores that cannot be written or read as they should: by faults on both volumes, and on the
/// real one by limits and permissions of a process of its own.
@Suite struct StoreAccessTests {
  private static let contents: [[UInt8]: [UInt8]] = [[1]: [1], [2]: [2], [3]: [3]]

  /// A store with a segment and a log.
  private static func fill(_ store: StoreSample) throws {
    let database = try store.open()
    try database.put([1], [1])
    try database.put([2], [2])
    try database.flush()
    try database.put([3], [3])
    try database.close()
  }

  @Test(arguments: StoreVolume.allCases, [EROFS, EACCES, EPERM])
  func aPlaceThatCannotBeWrittenIsRead(volume: StoreVolume, code: Int32) throws {
    var store = try StoreSample(on: volume)
    try Self.fill(store)
    let files = store.addFaults()
    files.plan(
      Fault(
        .error(code), at: 1, of: [.lock, .write, .sync, .makeDirectory, .rename, .link, .unlink],
        isLasting: true))
    let database = try store.open()
    #expect(try StoreSample.contents(database) == Self.contents)
    let cause = IOFailure(operation: "lock", fileName: "LOCK", code: code)
    #expect(throws: DatabaseError.readOnlyLocation(cause)) { try database.put([4], [4]) }
    #expect(throws: DatabaseError.readOnlyLocation(cause)) { try database.flush() }
    #expect(try StoreSample.contents(database) == Self.contents)
    #expect(try database.verify().isSound)
    // The same handle writes when it may.
    files.plan()
    try database.put([4], [4])
    #expect(try database.value(forKey: [4]) == [4])
  }

  @Test(.bug(id: "B08"), arguments: StoreVolume.allCases, [EIO, EACCES, EMFILE, EPERM])
  func aSegmentThatCannotBeReadIsNoDamage(volume: StoreVolume, code: Int32) throws {
    var store = try StoreSample(on: volume)
    store.options.cacheByteCount = 0
    try Self.fill(store)
    let files = store.addFaults()
    let database = try store.open()
    // The holder of the lock need not look at the log before it reads.
    try database.put([4], [4])
    files.plan(Fault(.error(code), at: 1, of: [.open, .read], isLasting: true))
    let error = #expect(throws: DatabaseError.self) { try database.value(forKey: [1]) }
    switch error {
    case .io(let cause): #expect(cause.code == code && code != EPERM)
    case .notAvailableYet(let cause): #expect(cause.code == code && code == EPERM)
    default: Issue.record("\(String(describing: error))")
    }
    #expect(try database.value(forKey: [3]) == [3])
    files.plan()
    #expect(try StoreSample.contents(database).count == 4)
  }

  @Test func permissionsOfFilesAndFolderAreRespected() async throws {
    let store = try StoreSample(on: .posix)
    try Self.fill(store)
    await #expect(processExitsWith: .success) { [path = store.path as String] in
      let files = FileManager.default
      let names = try files.contentsOfDirectory(atPath: path)
      let paths = names.map { path + "/" + $0 }
      if geteuid() == 0 {
        // Nothing is forbidden to root.
        for path in paths + [path] { try #require(chown(path, 65_534, 65_534) == 0) }
        try #require(setegid(65_534) == 0 && seteuid(65_534) == 0)
      }
      for path in paths { try #require(chmod(path, 0o400) == 0) }
      try #require(chmod(path, 0o500) == 0)
      let database = try Database(at: path)
      #expect(try StoreSample.contents(database) == StoreAccessTests.contents)
      let cause = IOFailure(operation: "lock", fileName: "LOCK", code: EACCES)
      #expect(throws: DatabaseError.readOnlyLocation(cause)) { try database.put([4], [4]) }
      #expect(try database.verify().isSound)
      try #require(chmod(path, 0o700) == 0)
      for path in paths { try #require(chmod(path, 0o600) == 0) }
      try database.put([4], [4])
      try database.close()

      let segment = try #require(paths.first { $0.hasSuffix(".seg") })
      try #require(chmod(segment, 0) == 0)
      let other = try Database(at: path)
      let unreadable = IOFailure(
        operation: "open", fileName: String(segment.suffix(10)), code: EACCES)
      #expect(throws: DatabaseError.io(unreadable)) { try other.value(forKey: [1]) }
      #expect(throws: DatabaseError.io(unreadable)) { try other.verify() }
      #expect(try other.value(forKey: [4]) == [4])
      try #require(chmod(segment, 0o600) == 0)
      #expect(try StoreSample.contents(other).count == 4)
    }
  }

  @Test(.bug(id: "B59")) func aLimitOfTheFileSizeIsAFullDiskThatEnds() async throws {
    let store = try StoreSample(on: .posix)
    await #expect(processExitsWith: .success) { [path = store.path as String] in
      var options = DatabaseOptions()
      options.worksInBackground = false
      options.zeroStepByteCount = 4096
      let database = try Database(at: path, options: options)
      var expected: [[UInt8]: [UInt8]] = [:]
      func put(_ number: UInt8) throws(DatabaseError) {
        try database.put([UInt8](repeating: number, count: 1000), [number], durability: .lazy)
        expected[[number]] = [UInt8](repeating: number, count: 1000)
      }
      try put(0)
      try #require(ProcessLimit.setFileSize(to: 40 << 10))
      let error = #expect(throws: DatabaseError.self) {
        for number in 1...200 as ClosedRange<UInt8> { try put(number) }
      }
      guard case .diskFull = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(expected.count > 10 && expected.count < 45)
      #expect(try StoreSample.contents(database) == expected)
      try #require(ProcessLimit.setFileSize(to: rlim_t.max))
      for number in 201...250 as ClosedRange<UInt8> { try put(number) }
      try database.flush()
      try database.close()
      let again = try Database(at: path, options: options)
      #expect(try StoreSample.contents(again) == expected)
      #expect(try again.verify().isSound)
    }
  }

  @Test func withoutDescriptorsNothingIsLost() async throws {
    let store = try StoreSample(on: .posix)
    await #expect(processExitsWith: .success) { [path = store.path as String] in
      var options = DatabaseOptions()
      options.worksInBackground = false
      options.cacheByteCount = 0
      let database = try Database(at: path, options: options)
      for number in 0..<6 as Range<UInt8> {
        try database.put([number], [number])
        try database.flush()
      }
      try database.releaseMemory()
      try #require(ProcessLimit.setDescriptorCount(to: 64))
      var taken: [Int32] = []
      while let descriptor = [open("/dev/null", O_RDONLY)].first(where: { $0 >= 0 }) {
        taken.append(descriptor)
      }
      let error = #expect(throws: DatabaseError.self) { try database.value(forKey: [0]) }
      guard case .io(let cause) = error, cause.code == EMFILE else {
        Issue.record("\(String(describing: error))")
        return
      }
      // The log is open, so commits go on; a flush is tried again later.
      try database.put([6], [6])
      #expect(throws: DatabaseError.self) { try database.flush() }
      #expect(try database.value(forKey: [6]) == [6])
      for descriptor in taken { close(descriptor) }
      try database.flush()
      #expect(try StoreSample.contents(database).count == 7)
      #expect(try database.verify().isSound)
      try database.close()
    }
  }

  @Test(.bug(id: "B56")) func aKilledWriterLosesNothingAndHoldsNobodyUp() async throws {
    let store = try StoreSample(on: .posix)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = store.path as String] in
      let database = try Database(at: path)
      try database.put([1], [1])
      try database.flush()
      try database.put([2], [2])
      try database.put([3], [3], durability: .lazyWithin(.seconds(3600)))
      kill(getpid(), SIGKILL)
    }
    let database = try store.open()
    #expect(try StoreSample.contents(database) == Self.contents)
    try database.put([4], [4])
    #expect(try database.verify().isSound)
  }
}
