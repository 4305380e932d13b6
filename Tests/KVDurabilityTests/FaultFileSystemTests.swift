import Foundation
import KVEngine
import KVTestSupport
import Testing

/// That planned faults happen where, as often and as planned.
@Suite struct FaultFileSystemTests {
  private let base = MemoryFileSystem()

  /// Uses every call once; returns the operations that failed, in order.
  private func useEverything(_ files: FaultFileSystem) -> [SystemError.Operation] {
    var failures: [SystemError.Operation] = []
    func run(_ call: () throws -> Void) {
      do {
        try call()
      } catch let error as SystemError {
        failures.append(error.operation)
      } catch let error as WriteFailure {
        failures.append(error.cause.operation)
      } catch {
        Issue.record(error)
      }
    }
    run { try files.makeDirectory("/x") }
    var file: (any File)?
    run { file = try files.open("/x/a", .create) }
    run { try file?.write([1, 2, 3, 4], at: 0) }
    run { try file?.sync() }
    run { _ = try file?.status() }
    run { _ = try file?.readBytes(at: 0, count: 4) }
    run { try files.link("/x/a", to: "/x/b") }
    run { try files.rename("/x/b", to: "/x/c") }
    run { try files.unlink("/x/c") }
    run { try files.syncDirectory("/x") }
    run { _ = try files.list("/x") }
    run { try files.lock("/x/LOCK").unlock() }
    run { _ = try files.freeByteCount("/x") }
    return failures
  }

  @Test func everyCallIsReachedByCounting() {
    let expected: [SystemError.Operation] = [
      .makeDirectory, .open, .write, .sync, .status, .read, .link, .rename, .unlink,
      .syncDirectory, .list, .lock, .freeSpace,
    ]
    var found: [SystemError.Operation?] = []
    for position in 1... {
      let files = FaultFileSystem(MemoryFileSystem(), Fault(.error(EIO), at: position))
      let failures = useEverything(files)
      if !files.wasHit {
        #expect(failures.isEmpty)
        #expect(files.callCount == expected.count)
        break
      }
      found.append(failures.first)
    }
    #expect(found == expected)
  }

  @Test func aLastingFaultFailsEverythingAfterIt() {
    let files = FaultFileSystem(base, Fault(.error(EROFS), at: 9, isLasting: true))
    #expect(useEverything(files) == [.unlink, .syncDirectory, .list, .lock, .freeSpace])
  }

  @Test func onlyChosenKindsAreCountedAndFail() throws {
    let files = FaultFileSystem(base, Fault(.error(EIO), at: 2, of: [.write]))
    let file = try files.create("/a", [1])
    try file.sync()
    let failure = try #require(throws: WriteFailure.self) { try file.write([2], at: 0) }
    #expect(failure.cause == SystemError(.write, "/a", code: EIO))
    try file.write([3], at: 1)
    #expect(try base.bytes(of: "/a") == [1, 3])
  }

  @Test(arguments: [
    (Fault.Progress.nothing, []), (.part, [1, 2]), (.everything, [1, 2, 3, 4] as [UInt8]),
  ])
  func aFailingWriteMayHaveTakenAPart(progress: Fault.Progress, expected: [UInt8]) throws {
    let files = FaultFileSystem(base, Fault(.error(ENOSPC, after: progress), at: 1, of: [.write]))
    let file = try files.open("/a", .create)
    let failure = try #require(throws: WriteFailure.self) { try file.write([1, 2, 3, 4], at: 0) }
    #expect(failure.writtenByteCount == 0)
    #expect(failure.cause.isSpace)
    #expect(try base.bytes(of: "/a") == expected)
  }

  @Test func aFalseFailureHasDoneItsWork() throws {
    let files = FaultFileSystem(base, Fault(.error(EIO, after: .everything), at: 1))
    #expect(throws: SystemError(.open, "/a", code: EIO)) { _ = try files.open("/a", .create) }
    #expect(try base.list("/") == ["a"])
  }

  @Test(arguments: [1, 2, 3, 100])
  func shortTransfersAreContinued(count: Int) throws {
    let files = FaultFileSystem(base, Fault(.short(count), at: 1, isLasting: true))
    let bytes = SeededGenerator.sample(50)
    let file = try files.create("/a", bytes)
    #expect(try file.bytes() == bytes)
    #expect(try base.bytes(of: "/a") == bytes)
    #expect(files.wasHit)
    let transfers = (bytes.count + count - 1) / count
    #expect(files.callCount == 1 + transfers + 1 + transfers)
  }

  @Test func aWriteThatTakesNothingIsAnError() throws {
    let files = FaultFileSystem(
      base, Fault(.short(3), at: 1, of: [.write]), Fault(.short(0), at: 2, of: [.write]))
    let failure = try #require(throws: WriteFailure.self) {
      try files.create("/a", [1, 2, 3, 4])
    }
    #expect(failure.writtenByteCount == 3)
    #expect(failure.cause == .noProgress(.write, "file"))
  }

  @Test func aShortWriteMayBeFollowedByAFailure() throws {
    let files = FaultFileSystem(
      base, Fault(.short(1), at: 1, of: [.write]), Fault(.error(EIO), at: 2, of: [.write]))
    let failure = try #require(throws: WriteFailure.self) {
      try files.create("/a", [1, 2, 3, 4])
    }
    #expect(failure.writtenByteCount == 1)
    #expect(failure.cause.code == EIO)
    #expect(try base.bytes(of: "/a") == [1])
  }

  @Test func planningAnewForgetsCountsAndFaults() throws {
    let files = FaultFileSystem(base, Fault(.error(EIO), at: 1))
    #expect(throws: SystemError.self) { try files.makeDirectory("/x") }
    files.plan()
    try files.makeDirectory("/x")
    #expect(!files.wasHit)
    #expect(files.callCount == 1)
  }

  @Test func seedsAndStreamsGiveTheirOwnSequences() {
    func words(_ seed: UInt64, _ stream: UInt64 = 0) -> [UInt64] {
      var generator = SeededGenerator(seed: seed, stream: stream)
      return (0..<4).map { _ in generator.next() }
    }
    #expect(words(1) == words(1))
    #expect(Set([words(0), words(1), words(0, 1), words(1, 1)]).count == 4)
    var generator = SeededGenerator(seed: 1)
    #expect(generator.bytes(13).count == 13)
  }

  @Test func aTemporaryDirectoryGoesWithItsOwner() throws {
    var directory: TemporaryDirectory? = try TemporaryDirectory()
    let path = try #require(directory?.path)
    try PosixFileSystem.shared.create(path + "/a", [1])
    #expect(FileManager.default.fileExists(atPath: path))
    directory = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}

extension SeededGenerator {
  /// Some bytes.
  fileprivate static func sample(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 5)
    return generator.bytes(count)
  }
}
