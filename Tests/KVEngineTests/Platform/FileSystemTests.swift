import Foundation
import KVEngine
import KVTestSupport
import Testing

/// What every file system does with files and their bytes.
@Suite struct FileSystemTests {
  @Test(arguments: TestVolume.allCases, [0, 1, 511, 4095, 4096, 4097, 70_000])
  func aCreatedFileHoldsWhatWasWritten(volume: TestVolume, count: Int) throws {
    let folder = try volume.makeFolder()
    var generator = SeededGenerator(seed: UInt64(count))
    let bytes = generator.bytes(count)
    try folder.files.create(folder["a"], bytes).sync()
    #expect(try folder.files.bytes(of: folder["a"]) == bytes)
    #expect(try folder.files.status(folder["a"]).byteCount == count)
  }

  @Test(arguments: TestVolume.allCases)
  func createRefusesATakenName(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["a"], [1])
    try folder.files.makeDirectory(folder["b"])
    #expect(code { _ = try folder.files.open(folder["a"], .create) } == EEXIST)
    #expect(code { _ = try folder.files.open(folder["b"], .create) } == EEXIST)
    #expect(try folder.files.bytes(of: folder["a"]) == [1])
  }

  @Test(arguments: TestVolume.allCases, [OpenMode.read, .update])
  func openRefusesWhatIsNoFile(volume: TestVolume, mode: OpenMode) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["a"])
    #expect(code { _ = try folder.files.open(folder["missing"], mode) } == ENOENT)
    #expect(code { _ = try folder.files.open(folder["missing/b"], mode) } == ENOENT)
    #expect(code { _ = try folder.files.open(folder["a/b"], mode) } == ENOTDIR)
    #expect(code { _ = try folder.files.open(folder.path, mode) } == EISDIR)
    #expect(code { _ = try folder.files.open("", mode) } == ENOENT)
  }

  @Test(arguments: TestVolume.allCases)
  func readsEndWithTheFile(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["a"], Array(0..<100))
    let file = try folder.files.open(folder["a"], .read)
    #expect(try file.readBytes(at: 90, count: 50).byteCount == 10)
    #expect(try file.readBytes(at: 100, count: 50).byteCount == 0)
    #expect(try file.readBytes(at: 1 << 40, count: 50).byteCount == 0)
    #expect(try file.readBytes(at: 10, count: 0).byteCount == 0)
  }

  @Test(arguments: TestVolume.allCases, [3, 4096, 10_000])
  func aWriteBehindTheEndFillsZeros(volume: TestVolume, offset: Int) throws {
    let folder = try volume.makeFolder()
    let file = try folder.files.create(folder["a"], [1, 2])
    try file.write([9], at: offset)
    let zeros = [UInt8](repeating: 0, count: offset - 2)
    #expect(try file.bytes() == [1, 2] + zeros + [9])
  }

  @Test(arguments: TestVolume.allCases)
  func anOverwriteKeepsTheRest(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    var expected = [UInt8](repeating: 7, count: 12_000)
    try folder.files.create(folder["a"], expected)
    let file = try folder.files.open(folder["a"], .update)
    try file.write([UInt8](repeating: 8, count: 5000), at: 4000)
    expected.replaceSubrange(4000..<9000, with: repeatElement(8, count: 5000))
    #expect(try file.bytes() == expected)
  }

  @Test(arguments: TestVolume.allCases)
  func aFileOpenedForReadingRefusesWrites(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    try folder.files.create(folder["a"], [1])
    let file = try folder.files.open(folder["a"], .read)
    #expect(code { try file.write([2], at: 0) } == EBADF)
    #expect(try file.bytes() == [1])
  }

  @Test(arguments: TestVolume.allCases)
  func negativeOffsetsAreRefused(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let file = try folder.files.create(folder["a"], [1])
    #expect(code { _ = try file.readBytes(at: -1, count: 1) } == EINVAL)
    #expect(code { try file.write([2], at: -1) } == EINVAL)
    #expect(code { try file.write([2], at: .max) } != 0)
    #expect(try file.bytes() == [1])
  }

  @Test(arguments: TestVolume.allCases)
  func anUnlinkedFileStaysUsableWhileItIsOpen(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let old = try folder.files.create(folder["a"], [1])
    try folder.files.unlink(folder["a"])
    #expect(code { _ = try folder.files.status(folder["a"]) } == ENOENT)
    try folder.files.create(folder["a"], [2])
    try old.write([3], at: 1)
    #expect(try old.bytes() == [1, 3])
    #expect(try folder.files.bytes(of: folder["a"]) == [2])
  }

  @Test(arguments: TestVolume.allCases)
  func statusTellsKindLengthAndIdentity(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    let file = try folder.files.create(folder["a"], [1, 2, 3])
    let found = try folder.files.status(folder["a"])
    #expect(found.kind == .file && found.byteCount == 3)
    #expect(try file.status() == found)
    #expect(try folder.files.status(folder.path).kind == .directory)
    #expect(try folder.files.status(folder.path).identity != found.identity)
    #expect(code { _ = try folder.files.status(folder["b"]) } == ENOENT)
    #expect(code { _ = try folder.files.status(folder["a/b"]) } == ENOTDIR)
  }

  @Test(arguments: TestVolume.allCases)
  func filesCanBeSharedByThreads(volume: TestVolume) async throws {
    let folder = try volume.makeFolder()
    let file = try folder.files.create(folder["a"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for step in 0..<50 {
            let bytes = [UInt8](repeating: UInt8(task + 1), count: 100)
            try file.write(bytes, at: (step * 4 + task) * 100)
          }
        }
      }
      try await group.waitForAll()
    }
    let expected = (0..<200).flatMap { [UInt8](repeating: UInt8($0 % 4 + 1), count: 100) }
    #expect(try file.bytes() == expected)
  }

  @Test(arguments: TestVolume.allCases)
  func freeSpaceIsTold(volume: TestVolume) throws {
    let folder = try volume.makeFolder()
    #expect(try folder.files.freeByteCount(folder.path) > 0)
    #expect(code { _ = try folder.files.freeByteCount(folder["missing"]) } == ENOENT)
  }
}
