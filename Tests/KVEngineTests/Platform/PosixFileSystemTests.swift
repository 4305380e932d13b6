import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// What only a real volume has: links, special files, modes, signals.
@Suite struct PosixFileSystemTests {
  private let files = PosixFileSystem.shared
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test func aSymbolicLinkIsNeverFollowed() throws {
    let (target, link) = (directory.path("target"), directory.path("link"))
    try files.create(target, [1])
    #expect(symlink(target, link) == 0)
    #expect(code { _ = try files.open(link, .read) } == ELOOP)
    #expect(code { _ = try files.open(link, .update) } == ELOOP)
    #expect(code { _ = try files.open(link, .create) } == EEXIST)
    #expect(code { _ = try files.lock(link) } == ELOOP)
    #expect(try files.status(link).kind == .other)
    try files.link(link, to: directory.path("second"))
    #expect(try files.status(directory.path("second")).kind == .other)
  }

  @Test func aDanglingLinkCreatesNothing() throws {
    let (target, link) = (directory.path("target"), directory.path("link"))
    #expect(symlink(target, link) == 0)
    #expect(code { _ = try files.open(link, .create) } == EEXIST)
    #expect(code { _ = try files.lock(link) } == ELOOP)
    #expect(try files.list(directory.path) == ["link"])
  }

  @Test(.timeLimit(.minutes(1))) func aPipeIsRefusedWithoutWaiting() throws {
    let pipe = directory.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(code { _ = try files.open(pipe, .read) } == EINVAL)
    #expect(code { _ = try files.open(pipe, .update) } == EINVAL)
    #expect(code { _ = try files.lock(pipe) } == EINVAL)
    #expect(try files.status(pipe).kind == .other)
  }

  @Test func aDeviceIsRefused() {
    #expect(code { _ = try files.open("/dev/null", .read) } == EINVAL)
  }

  @Test func onlyTheOwnerMayUseWhatIsCreated() throws {
    try files.create(directory.path("file"))
    try files.makeDirectory(directory.path("folder"))
    try files.lock(directory.path("LOCK")).unlock()
    func mode(_ name: String) -> mode_t {
      var found = stat()
      lstat(directory.path(name), &found)
      return found.st_mode & 0o777
    }
    #expect(mode("file") == 0o600)
    #expect(mode("LOCK") == 0o600)
    #expect(mode("folder") == 0o700)
  }

  @Test func aDescriptorDoesNotSurviveExec() throws {
    let descriptor = try FileDescriptor.regularFile(
      directory.path("a"), flags: O_RDWR | O_CREAT, for: .open)
    let flags = fcntl(descriptor.rawValue, F_GETFD)
    #expect(flags & FD_CLOEXEC != 0)
  }

  @Test func everyDescriptorIsGivenBack() async throws {
    let path = directory.path
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      let files = PosixFileSystem.shared
      try files.create(path + "/a", [1])
      guard ProcessLimit.setDescriptorCount(to: 64) else { exit(4) }
      for _ in 0..<100 {
        _ = try files.bytes(of: path + "/a")
        _ = try files.list(path)
        try files.syncDirectory(path)
        try files.lock(path + "/LOCK").unlock()
        _ = try files.lock(path + "/LOCK")
        _ = code { _ = try files.open("/dev/null", .read) }
      }
      exit(3)
    }
  }

  @Test func aSyncReportsWhatTheSystemAnswers() {
    #expect(code { try FileSync.syncFile(-1, "/a") } == EBADF)
    #expect(code { try FileSync.syncDirectory(-1, "/a") } == EBADF)
  }

  @Test func aZeroByteInAPathIsRefused() throws {
    try files.create(directory.path("a"), [1])
    let path = directory.path("a\0b")
    #expect(code { _ = try files.open(path, .read) } == EINVAL)
    #expect(code { _ = try files.open(path, .create) } == EINVAL)
    #expect(code { _ = try files.status(path) } == EINVAL)
    #expect(code { _ = try files.list(path) } == EINVAL)
    #expect(code { try files.makeDirectory(path) } == EINVAL)
    #expect(code { try files.rename(path, to: directory.path("c")) } == EINVAL)
    #expect(code { try files.rename(directory.path("a"), to: path) } == EINVAL)
    #expect(code { try files.link(path, to: directory.path("c")) } == EINVAL)
    #expect(code { try files.link(directory.path("a"), to: path) } == EINVAL)
    #expect(code { try files.unlink(path) } == EINVAL)
    #expect(code { try files.syncDirectory(path) } == EINVAL)
    #expect(code { _ = try files.freeByteCount(path) } == EINVAL)
    #expect(try files.list(directory.path) == ["a"])
  }

  @Test func longNamesAreListedWhole() throws {
    let names = (1...255).map { String(repeating: "n", count: $0) }
    for name in names { try files.create(directory.path(name)) }
    #expect(try files.list(directory.path).sorted() == names.sorted())
  }

  @Test func theProcessNumberIsThatOfTheProcess() {
    #expect(files.processNumber == getpid())
  }

  @Test func aFileSizeLimitIsAnErrorAndNoSignal() async throws {
    let path = directory.path("a")
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      let file = try PosixFileSystem.shared.open(path, .create)
      guard ProcessLimit.setFileSize(to: 4096) else { exit(4) }
      do {
        try file.writeBytes([UInt8](repeating: 1, count: 5000).rawBytes, at: 0)
      } catch let failure as WriteFailure {
        exit(failure.writtenByteCount == 4096 && failure.cause.isSpace ? 3 : 5)
      }
    }
  }

  @Test func anAppKeepsItsOwnHandlerOfTheFileSizeSignal() async throws {
    let path = directory.path("a")
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      signal(SIGXFSZ, exitWithThree)
      let file = try PosixFileSystem.shared.open(path, .create)
      guard ProcessLimit.setFileSize(to: 4096) else { exit(4) }
      try file.writeBytes([UInt8](repeating: 1, count: 5000).rawBytes, at: 0)
    }
  }
}

/// An app's own handler.
private func exitWithThree(_ signal: Int32) {
  _exit(3)
}
