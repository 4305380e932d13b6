import Foundation
import KVEngine
import KVTestSupport
import Testing

/// What every file system does with names.
@Suite struct FileNamesTests {
  @Test(arguments: TestVolume.allCases)
  func listNamesEverythingInAFolder(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    #expect(try folder.files.list(folder.path) == [])
    try folder.files.create(folder["a"])
    try folder.files.create(folder[".b"])
    try folder.files.makeDirectory(folder["c"])
    try folder.files.create(folder["c/d"])
    #expect(Set(try folder.files.list(folder.path)) == ["a", ".b", "c"])
    #expect(try folder.files.list(folder["c"]) == ["d"])
    #expect(code { _ = try folder.files.list(folder["a"]) } == ENOTDIR)
    #expect(code { _ = try folder.files.list(folder["missing"]) } == ENOENT)
  }

  @Test(arguments: TestVolume.allCases)
  func makeDirectoryNeedsAParentAndAFreeName(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["a"])
    try folder.files.makeDirectory(folder["b"])
    #expect(code { try folder.files.makeDirectory(folder["a"]) } == EEXIST)
    #expect(code { try folder.files.makeDirectory(folder["b"]) } == EEXIST)
    #expect(code { try folder.files.makeDirectory(folder["missing/c"]) } == ENOENT)
    #expect(code { try folder.files.makeDirectory(folder["a/c"]) } == ENOTDIR)
    #expect(code { try folder.files.makeDirectory("/") } == EEXIST)
  }

  @Test(arguments: TestVolume.allCases)
  func pathsMayHoldDotsAndDoubledSlashes(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["a"], [1])
    #expect(try folder.files.bytes(of: folder[".//./a"]) == [1])
    #expect(try folder.files.list(folder["."]) == ["a"])
    #expect(try folder.files.status(folder[""]).kind == .directory)
  }

  @Test(arguments: TestVolume.allCases)
  func renameReplacesInOneStep(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let moved = try folder.files.create(folder["a"], [1])
    let replaced = try folder.files.create(folder["b"], [2])
    let identity = try moved.status().identity
    try folder.files.rename(folder["a"], to: folder["b"])
    #expect(try folder.files.list(folder.path) == ["b"])
    #expect(try folder.files.status(folder["b"]).identity == identity)
    #expect(try replaced.bytes() == [2])
    try moved.write([3], at: 1)
    #expect(try folder.files.bytes(of: folder["b"]) == [1, 3])
  }

  @Test(arguments: TestVolume.allCases)
  func renameOfWhatCannotBeMovedChangesNothing(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let files = folder.files
    try files.create(folder["a"], [1])
    try files.makeDirectory(folder["b"])
    #expect(code { try files.rename(folder["missing"], to: folder["a"]) } == ENOENT)
    #expect(code { try files.rename(folder["a"], to: folder["missing/c"]) } == ENOENT)
    #expect(code { try files.rename(folder["a"], to: folder["b"]) } == EISDIR)
    #expect(code { try files.rename(folder["b"], to: folder["a"]) } == ENOTDIR)
    #expect(code { try files.rename(folder["b"], to: folder["b/c"]) } == EINVAL)
    #expect(try files.bytes(of: folder["a"]) == [1])
    try files.rename(folder["a"], to: folder["a"])
    #expect(Set(try files.list(folder.path)) == ["a", "b"])
  }

  @Test(arguments: TestVolume.allCases)
  func renameMovesAFolderWithItsFiles(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let files = folder.files
    try files.makeDirectory(folder["a"])
    try files.create(folder["a/x"], [1])
    try files.makeDirectory(folder["b"])
    try files.rename(folder["a"], to: folder["b"])
    #expect(try files.bytes(of: folder["b/x"]) == [1])
    try files.makeDirectory(folder["c"])
    #expect(code { try files.rename(folder["c"], to: folder["b"]) } == ENOTEMPTY)
  }

  @Test(arguments: TestVolume.allCases)
  func aLinkIsASecondNameOfTheSameFile(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let files = folder.files
    try files.create(folder["a"], [1])
    try files.link(folder["a"], to: folder["b"])
    #expect(try files.status(folder["a"]) == files.status(folder["b"]))
    try files.open(folder["b"], .update).write([2], at: 0)
    #expect(try files.bytes(of: folder["a"]) == [2])
    // Two names of one file: POSIX lets rename do nothing.
    try files.rename(folder["a"], to: folder["b"])
    #expect(Set(try files.list(folder.path)) == ["a", "b"])
    try files.unlink(folder["a"])
    #expect(try files.bytes(of: folder["b"]) == [2])
  }

  @Test(arguments: TestVolume.allCases)
  func linkNeedsAFileAndAFreeName(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let files = folder.files
    try files.create(folder["a"], [1])
    try files.create(folder["b"], [2])
    try files.makeDirectory(folder["c"])
    #expect(code { try files.link(folder["a"], to: folder["b"]) } == EEXIST)
    #expect(code { try files.link(folder["missing"], to: folder["d"]) } == ENOENT)
    #expect(code { try files.link(folder["c"], to: folder["d"]) } == EPERM)
    #expect(try files.bytes(of: folder["b"]) == [2])
  }

  @Test(arguments: TestVolume.allCases)
  func unlinkTakesFilesOnly(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.makeDirectory(folder["a"])
    #expect([EISDIR, EPERM].contains(code { try folder.files.unlink(folder["a"]) }))
    #expect(code { try folder.files.unlink(folder["missing"]) } == ENOENT)
  }

  @Test(arguments: TestVolume.allCases)
  func syncDirectoryTakesFoldersOnly(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["a"])
    try folder.files.syncDirectory(folder.path)
    #expect(code { try folder.files.syncDirectory(folder["a"]) } == ENOTDIR)
    #expect(code { try folder.files.syncDirectory(folder["missing"]) } == ENOENT)
  }

  @Test(arguments: TestVolume.allCases)
  func namesAreComparedByBytes(volume: TestVolume) throws {
    #if canImport(Darwin)
      if volume == .posix { return }  // APFS compares by canonical equivalence.
    #endif
    let folder = try volume.makeFolder()
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    #expect(composed == decomposed)
    try folder.files.create(folder[composed], [1])
    try folder.files.create(folder[decomposed], [2])
    #expect(try folder.files.bytes(of: folder[composed]) == [1])
    #expect(try folder.files.list(folder.path).count == 2)
  }
}
