import KVEngine
import KVTestSupport
import Testing

/// What crash images hold of names.
@Suite struct CrashNamesTests {
  private let files = RecordingFileSystem()

  /// The names in the root of each image that the seeds of one variant give.
  private func namings(_ variant: CrashVariant) throws -> Set<[String]> {
    let count = files.operationCount
    return try Set(
      files.nameSeeds(after: count).map { seed in
        try files.image(after: count, variant: variant, seed: seed).list("/").sorted()
      })
  }

  @Test func aNameIsDurableAfterTheSyncOfItsFolderOnly() throws {
    let file = try files.create("/a", [1])
    try file.sync()
    #expect(try files.image(after: files.operationCount, variant: .strict).list("/") == [])
    try files.syncDirectory("/")
    #expect(try files.image(after: files.operationCount, variant: .strict).bytes(of: "/a") == [1])
  }

  @Test func everySubsetOfChangesIsShown() throws {
    try files.create("/a")
    try files.create("/b")
    try files.create("/c")
    #expect(
      try namings(.names) == [
        [], ["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"],
      ])
    #expect(files.nameSeeds(after: files.operationCount) == 0..<8)
    #expect(try namings(.strict) == [[]])
    #expect(try namings(.everything) == [["a", "b", "c"]])
  }

  @Test func ofManyChangesEachIsShownAlone() throws {
    let names = (0..<10).map { "n\($0)" }
    for name in names { try files.create("/" + name) }
    let found = try namings(.names)
    for name in names { #expect(found.contains([name])) }
    #expect(found.count > 60)
    #expect(files.nameSeeds(after: files.operationCount).count == 74)
  }

  @Test func anUnlinkMaySurviveTheRenameBeforeIt() throws {
    for name in ["/CURRENT", "/old", "/new"] { try files.create(name) }
    try files.syncDirectory("/")
    try files.rename("/new", to: "/CURRENT")
    try files.unlink("/old")
    #expect(
      try namings(.names) == [
        ["CURRENT", "new", "old"], ["CURRENT", "old"], ["CURRENT", "new"], ["CURRENT"],
      ])
  }

  @Test func aRenameMakesNoByteDurable() throws {
    try files.create("/MANIFEST", [1]).sync()
    try files.syncDirectory("/")
    try files.create("/new", [2])
    try files.rename("/new", to: "/MANIFEST")
    try files.syncDirectory("/")
    let count = files.operationCount
    #expect(try files.image(after: count, variant: .strict).bytes(of: "/MANIFEST") == [])
    #expect(try files.image(after: count, variant: .sizeWithZeros).bytes(of: "/MANIFEST") == [0])
    #expect(try files.image(after: count, variant: .everything).bytes(of: "/MANIFEST") == [2])
    #expect(try files.image(after: count - 1, variant: .strict).bytes(of: "/MANIFEST") == [1])
  }

  @Test func aRenameInsideAFolderIsOneStep() throws {
    try files.create("/a", [1]).sync()
    try files.create("/b", [2]).sync()
    try files.syncDirectory("/")
    try files.rename("/a", to: "/b")
    #expect(try namings(.names) == [["a", "b"], ["b"]])
    #expect(files.nameSeeds(after: files.operationCount) == 0..<2)
    let contents = try (0..<2).map { seed in
      try files.image(after: files.operationCount, variant: .names, seed: seed).bytes(of: "/b")
    }
    #expect(contents == [[2], [1]])
  }

  @Test func aRenameBetweenFoldersIsDurableInEachByItsOwnSync() throws {
    try files.makeDirectory("/x")
    try files.create("/a")
    try files.syncDirectory("/")
    try files.rename("/a", to: "/x/a")
    try files.syncDirectory("/x")
    let image = files.image(after: files.operationCount, variant: .strict)
    #expect(Set(try image.list("/")) == ["a", "x"])
    #expect(try image.list("/x") == ["a"])
    #expect(try image.status("/a").identity == image.status("/x/a").identity)
  }

  @Test func aFolderWhoseNameIsLostTakesItsFilesAlong() throws {
    try files.makeDirectory("/x")
    try files.create("/x/a", [1]).sync()
    try files.syncDirectory("/x")
    #expect(try files.image(after: files.operationCount, variant: .strict).list("/") == [])
    try files.syncDirectory("/")
    #expect(try files.image(after: files.operationCount, variant: .strict).bytes(of: "/x/a") == [1])
  }

  @Test func linksAndUnlinksWaitForTheFolder() throws {
    try files.create("/a", [1]).sync()
    try files.syncDirectory("/")
    try files.link("/a", to: "/b")
    try files.unlink("/a")
    #expect(try files.image(after: files.operationCount, variant: .strict).list("/") == ["a"])
    try files.syncDirectory("/")
    let image = files.image(after: files.operationCount, variant: .strict)
    #expect(try image.list("/") == ["b"])
    #expect(try image.bytes(of: "/b") == [1])
  }

  @Test func aLockFileIsRecordedWhenItIsMade() throws {
    try files.lock("/LOCK").unlock()
    try files.lock("/LOCK").unlock()
    #expect(files.operationCount == 1)
    #expect(try files.image(after: 1, variant: .everything).list("/") == ["LOCK"])
    // A power cut ends every lock.
    _ = try files.image(after: 1, variant: .everything).lock("/LOCK")
  }

  @Test func renamesThatChangeNothingAreNotRecorded() throws {
    try files.create("/a", [1]).sync()
    try files.link("/a", to: "/b")
    try files.syncDirectory("/")
    let count = files.operationCount
    try files.rename("/a", to: "/b")
    try files.rename("/a", to: "/a")
    #expect(files.operationCount == count)
    #expect(try namings(.everything) == [["a", "b"]])
  }

  @Test func mixturesLoseNamesToo() throws {
    for name in ["/a", "/b", "/c"] { try files.create(name, [1]) }
    for variant in [CrashVariant.mixedFiles, .mixedWrites] {
      let found = try Set(
        (0..<100).map { seed in
          try files.image(after: files.operationCount, variant: variant, seed: seed).list("/").count
        })
      #expect(found == [0, 1, 2, 3], "\(variant)")
    }
  }

  @Test func callsAreCountedByKind() throws {
    try files.create("/a", [1])
    _ = try files.bytes(of: "/a")
    #expect(throws: SystemError.self) { try files.open("/missing", .read) }
    #expect(files.callCount([.open]) == 3)
    #expect(files.callCount([.write]) == 1)
    #expect(files.callCount([.read, .status]) == 2)
    #expect(files.callCount() == 6)
    #expect(files.operations.map(\.description) == ["1: create a", "2: write 1 bytes at 0 of a"])
  }

  @Test func processesShareTheRecord() throws {
    let other = files.process(7)
    #expect(other.processNumber == 7)
    try files.create("/a")
    try other.create("/b")
    #expect(files.operations.map(\.path) == ["/a", "/b"])
  }
}
