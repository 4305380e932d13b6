import Foundation
import KVEngine
import KVTestSupport
import Testing

@_silgen_name("fork") private func forkProcess() -> Int32

/// Locks, inside one process and between two.
@Suite struct FileLockTests {
  @Test(arguments: TestVolume.allCases)
  func aSecondOwnerIsRefusedUntilTheFirstUnlocks(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let first = try folder.files.lock(folder["LOCK"])
    #expect(code { _ = try folder.files.lock(folder["LOCK"]) } == EWOULDBLOCK)
    let other = try folder.files.lock(folder["OTHER"])
    first.unlock()
    let second = try folder.files.lock(folder["LOCK"])
    first.unlock()
    #expect(code { _ = try folder.files.lock(folder["LOCK"]) } == EWOULDBLOCK)
    second.unlock()
    other.unlock()
    #expect(Set(try folder.files.list(folder.path)) == ["LOCK", "OTHER"])
  }

  @Test(arguments: TestVolume.allCases)
  func aReleasedLockIsFree(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    var lock: (any FileLock)? = try folder.files.lock(folder["LOCK"])
    #expect(code { _ = try folder.files.lock(folder["LOCK"]) } == EWOULDBLOCK)
    _ = lock
    lock = nil
    try folder.files.lock(folder["LOCK"]).unlock()
  }

  @Test(arguments: TestVolume.allCases)
  func lockingChangesNoBytesAndNeedsAFolder(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["LOCK"], [1, 2])
    try folder.files.lock(folder["LOCK"]).unlock()
    #expect(try folder.files.bytes(of: folder["LOCK"]) == [1, 2])
    #expect(code { _ = try folder.files.lock(folder["missing/LOCK"]) } == ENOENT)
    #expect(code { _ = try folder.files.lock(folder.path) } == EISDIR)
  }

  @Test(arguments: TestVolume.allCases)
  func readingTheLockFileDoesNotUnlock(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let lock = try folder.files.lock(folder["LOCK"])
    #expect(try folder.files.bytes(of: folder["LOCK"]) == [])
    #expect(code { _ = try folder.files.lock(folder["LOCK"]) } == EWOULDBLOCK)
    lock.unlock()
  }

  @Test func anotherProcessIsRefused() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("LOCK")
    let lock = try PosixFileSystem.shared.lock(path)
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      do {
        try PosixFileSystem.shared.lock(path).unlock()
      } catch let error as SystemError where error.isLocked {
        exit(3)
      }
    }
    lock.unlock()
  }

  @Test func aKillEndsTheLock() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("LOCK")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let lock = try PosixFileSystem.shared.lock(path)
      kill(getpid(), SIGKILL)
      lock.unlock()
    }
    try PosixFileSystem.shared.lock(path).unlock()
  }

  @Test func aForkedChildDoesNotUnlockForItsParent() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("LOCK")
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      let lock = try PosixFileSystem.shared.lock(path)
      let child = forkProcess()
      if child == 0 {
        lock.unlock()
        _exit(0)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      let isHeld = code { try PosixFileSystem.shared.lock(path).unlock() } == EWOULDBLOCK
      lock.unlock()
      exit(isHeld && status == 0 ? 3 : 4)
    }
  }
}
