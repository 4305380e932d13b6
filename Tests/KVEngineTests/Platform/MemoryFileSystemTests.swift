import Foundation
import KVEngine
import KVTestSupport
import Testing

/// What only the memory file system has: a capacity, processes, copies.
@Suite struct MemoryFileSystemTests {
  @Test func aWriteTakesWhatTheCapacityAllows() throws {
    let files = MemoryFileSystem(capacity: 10_000)
    let file = try files.create("/a", [UInt8](repeating: 1, count: 9000))
    #expect(try files.freeByteCount("/") == 1000)
    let failure = try #require(throws: WriteFailure.self) {
      try file.write([UInt8](repeating: 2, count: 3000), at: 8000)
    }
    #expect(failure.cause.code == ENOSPC)
    #expect(failure.writtenByteCount == 2000)
    #expect(try file.status().byteCount == 10_000)
    #expect(try files.freeByteCount("/") == 0)
    // Overwriting needs no space, names need none either.
    try file.write([3, 3], at: 9998)
    try files.create("/b")
    #expect(code { _ = try files.create("/c", [1]) } == ENOSPC)
  }

  @Test func theLastUseOfAFileGivesItsSpaceBack() throws {
    let files = MemoryFileSystem(capacity: 1000)
    var file: (any File)? = try files.create("/a", [UInt8](repeating: 1, count: 600))
    try files.link("/a", to: "/b")
    try files.unlink("/a")
    try files.unlink("/b")
    #expect(try files.freeByteCount("/") == 400)
    #expect(try file?.bytes().count == 600)
    file = nil
    #expect(try files.freeByteCount("/") == 1000)
    try files.create("/c", [UInt8](repeating: 1, count: 500))
    try files.create("/d", [1])
    try files.rename("/d", to: "/c")
    #expect(try files.freeByteCount("/") == 999)
  }

  @Test func filesEndAtALimit() throws {
    let file = try MemoryFileSystem().create("/a")
    #expect(code { try file.write([1], at: PagedBytes.maximumByteCount) } == EFBIG)
    #expect(code { try file.write([1], at: .max) } == EFBIG)
    try file.write([1], at: 1 << 32)
    #expect(try file.status().byteCount == 1 << 32 + 1)
    #expect(try file.bytes(at: 1 << 32 - 1, count: 9) == [0, 1])
  }

  @Test func processesShareFilesAndLocks() throws {
    let first = MemoryFileSystem()
    let second = first.process(2)
    #expect(first.processNumber == getpid())
    #expect(second.processNumber == 2)
    try first.create("/a", [1])
    #expect(try second.bytes(of: "/a") == [1])
    #expect(try first.status("/a") == second.status("/a"))
    let lock = try first.lock("/LOCK")
    #expect(code { _ = try second.lock("/LOCK") } == EWOULDBLOCK)
    lock.unlock()
    try second.lock("/LOCK").unlock()
  }

  @Test func theEndOfAProcessEndsItsLocksOnly() throws {
    let first = MemoryFileSystem().process(1)
    let second = first.process(2)
    let lost = try first.lock("/LOCK")
    let kept = try second.lock("/OTHER")
    first.endProcess()
    let lock = try second.lock("/LOCK")
    #expect(code { _ = try first.lock("/OTHER") } == EWOULDBLOCK)
    lost.unlock()
    #expect(code { _ = try first.lock("/LOCK") } == EWOULDBLOCK)
    lock.unlock()
    kept.unlock()
  }

  @Test func aCopyDoesNotChangeWithTheOriginal() throws {
    let files = MemoryFileSystem()
    let file = try files.create("/a", [UInt8](repeating: 1, count: 10_000))
    let unlinked = try files.create("/gone", [1])
    try files.unlink("/gone")
    let copy = MemoryFileSystem(files.tree)
    try file.write([2], at: 5000)
    try files.create("/b")
    #expect(try copy.bytes(of: "/a") == [UInt8](repeating: 1, count: 10_000))
    #expect(try copy.list("/") == ["a"])
    #expect(try unlinked.bytes() == [1])
    #expect(try copy.freeByteCount("/") == files.freeByteCount("/") + 1)
    #expect(try copy.status("/a").identity.device != files.status("/a").identity.device)
    let fresh = try copy.create("/c").status().identity
    #expect(try fresh.inode != copy.status("/a").identity.inode)
  }
}
