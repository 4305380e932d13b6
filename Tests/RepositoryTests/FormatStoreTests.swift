import Testing

@testable import KVEngine

/// The vectors of FORMAT.md, put into files, are a store.
@Suite struct FormatStoreTests {
  private func store() throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    try files.makeDirectory("/store")
    let copy = try vector("manifest-copy")
    try write(copy + copy, "MANIFEST", in: files)
    try write(vector("segment"), "000006.seg", in: files)
    try write(vector("log-head") + vector("log-record"), "000007.log", in: files)
    return files
  }

  private func vector(_ name: String) throws -> [UInt8] {
    try #require(FormatDocument.shared.vector(name))
  }

  private func write(_ bytes: [UInt8], _ name: String, in files: MemoryFileSystem) throws {
    try files.open("/store/" + name, .create).writeBytes(bytes.rawBytes, at: 0)
  }

  private func open(_ files: MemoryFileSystem) throws -> Database {
    try Database(at: "/store", in: files, options: DatabaseOptions())
  }

  @Test func theVectorsOpenAsAStore() throws {
    let database = try open(store())
    #expect(try database.value(forKey: Array("milk".utf8)) == Array("soy".utf8))
    for key in ["mint", "tea", "water"] {
      #expect(try database.value(forKey: Array(key.utf8)) == nil, "\(key)")
    }
    #expect(try database.snapshot().sequence == 46)
    let report = try database.verify()
    #expect(report.damage == [])
    #expect(report.segmentCount == 1)
    #expect(report.entryCount == 5 + 2)
    try database.close()
  }

  @Test func theStoreIsContinuedBehindTheVectors() throws {
    let files = try store()
    let first = try open(files)
    try first.write { $0.put([1], forKey: [2]) }
    try first.close()
    let second = try open(files)
    #expect(try second.value(forKey: [2]) == [1])
    #expect(try second.value(forKey: Array("milk".utf8)) == Array("soy".utf8))
    #expect(try second.snapshot().sequence == 47)
    try second.close()
  }

  /// The worked example of section 6.5, byte for byte.
  @Test func twoCommitsLieWhereTheExampleSays() throws {
    let files = MemoryFileSystem()
    let database = try open(files)
    for number in 0..<2 {
      let key: [UInt8] = [0, 0, 0, UInt8(number)]
      try database.write { $0.put([UInt8](repeating: 7, count: 100), forKey: key) }
    }
    let log = try files.open("/store/000001.log", .read).readBytes(at: 0, count: 1 << 20)
    #expect(log.byteCount == 65_632)
    let (manifest, _) = try ManifestFile(files: files, folder: "/store").read()
    let contents = try LogReader.contents(of: log, number: 1, store: manifest.store)
    #expect(contents.records.map(\.offset) == [96, 248])
    #expect(contents.records.map(\.payload) == [136..<244, 288..<396])
    #expect(contents.records.map(\.head.durableSequence) == [0, 1])
    #expect(contents.acceptedByteCount == 400)
    try database.close()
  }
}
