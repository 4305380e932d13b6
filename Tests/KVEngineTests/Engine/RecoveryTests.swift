import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// What a folder is taken for.
@Suite struct RecoveryTests {
  /// The error of opening; `nil` when it opens.
  private func failure(_ store: StoreSample) -> DatabaseError? {
    do throws(DatabaseError) {
      _ = try store.open()
      return nil
    } catch {
      return error
    }
  }

  private func makeStore(on volume: StoreVolume, flushed: Bool = false) throws -> StoreSample {
    let store = try StoreSample(on: volume)
    let database = try store.open()
    try database.put([1], [1])
    if flushed {
      try database.flush()
      try database.put([2], [2])
    }
    try database.close()
    return store
  }

  @Test(arguments: StoreVolume.allCases)
  func foldersWithoutAStoreOpenEmptyAndTheFirstWriteMakesOne(volume: StoreVolume) throws {
    for names in [
      nil, [], ["LOCK"], ["holiday.txt"], ["000002.log.tmp", "MANIFEST.tmp"], ["MANIFEST-000001"],
    ] {
      let store = try StoreSample(on: volume)
      if let names {
        try store.files.makeDirectory(store.path)
        for name in names { try store.files.create(store[name], [1, 2, 3]) }
      }
      let database = try store.open()
      #expect(try database.value(forKey: [1]) == nil)
      try database.put([1], [1])
      try database.close()
      #expect(try store.open().value(forKey: [1]) == [1])
      if names == ["holiday.txt"] {
        #expect(try store.files.bytes(of: store["holiday.txt"]) == [1, 2, 3])
      }
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func logOneWithoutARecordIsAnUnfinishedCreation(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let files = store.files
    try files.makeDirectory(store.path)
    let preamble = LogPreamble(
      lastSequence: 0, predecessor: 0, predecessorByteCount: 0, predecessorLastSequence: 0,
      predecessorChain: 0)
    let empty = LogWriter.emptyLog(number: 1, store: LogSample.store, preamble: preamble)
    for bytes in [[], [1], empty, empty + [UInt8](repeating: 0, count: 4096)] {
      for name in try files.list(store.path) { try files.unlink(store[name]) }
      try files.create(store["000001.log"], bytes)
      let database = try store.open()
      try database.put([1], [1])
      try database.close()
      #expect(try store.open().value(forKey: [1]) == [1])
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func aStoreWithoutItsManifestIsDamagedAndNeverNew(volume: StoreVolume) throws {
    for flushed in [false, true] {
      let store = try makeStore(on: volume, flushed: flushed)
      try store.files.unlink(store["MANIFEST"])
      let before = try store.files.list(store.path).sorted()
      let error = #expect(throws: DatabaseError.self) { try store.open() }
      #expect(isDamaged(error))
      #expect(try store.files.list(store.path).sorted() == before)
    }
  }

  @Test(arguments: StoreVolume.allCases, ["000001.seg", "000002.log", "MANIFEST-000002"])
  func anyOtherFileOfAStoreMeansThatTheManifestIsMissing(
    volume: StoreVolume, name: String
  ) throws {
    let store = try StoreSample(on: volume)
    try store.files.makeDirectory(store.path)
    try store.files.create(store[name])
    #expect(isDamaged(failure(store)))
  }

  @Test(.bug(id: "B10"), arguments: StoreVolume.allCases)
  func aLogOrSegmentThatIsMissingIsDamage(volume: StoreVolume) throws {
    let store = try makeStore(on: volume, flushed: true)
    let files = store.files
    let logs = try store.names().filter { $0.hasSuffix(".log") }.sorted()
    for name in logs.suffix(1) {
      try files.rename(store[name], to: store["away"])
      #expect(isDamaged(failure(store)), "\(name)")
      try files.rename(store["away"], to: store[name])
    }
    for name in try store.names() where name.hasSuffix(".seg") {
      try files.rename(store[name], to: store["away"])
      let database = try store.open()
      let error = #expect(throws: DatabaseError.self) { try database.value(forKey: [1]) }
      #expect(isDamaged(error))
      #expect(try database.value(forKey: [2]) == [2])
      try database.close()
      try files.rename(store["away"], to: store[name])
    }
    #expect(try store.open().value(forKey: [1]) == [1])
  }

  @Test(arguments: StoreVolume.allCases)
  func somethingElseInPlaceOfTheFolderIsNoMissingStore(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    try store.files.create(store.path, [1])
    guard case .io(let cause) = failure(store) else {
      Issue.record("\(String(describing: failure(store)))")
      return
    }
    #expect(cause.code == ENOTDIR)
  }

  @Test(.bug(id: "B08"), arguments: StoreVolume.allCases, [EIO, EPERM, EMFILE, EACCES])
  func noFailureOfOpeningIsTakenForAnEmptyStore(volume: StoreVolume, code: Int32) throws {
    let store = try makeStore(on: volume, flushed: true)
    let faulty = FaultFileSystem(store.files)
    for position in 1... {
      faulty.plan(Fault(.error(code), at: position))
      let result = Result { () throws(DatabaseError) in try store.open(in: faulty) }
      let wasHit = faulty.wasHit
      faulty.plan()
      switch result {
      case .success(let database):
        #expect(!wasHit, "call \(position)")
        #expect(try database.value(forKey: [1]) == [1])
        #expect(try database.value(forKey: [2]) == [2])
        #expect(position > 6)
        return
      case .failure(.io(let cause)): #expect(cause.code == code && code != EPERM)
      case .failure(.notAvailableYet(let cause)): #expect(cause.code == code && code == EPERM)
      case .failure(let error): Issue.record("call \(position): \(error)")
      }
      #expect(try store.open().value(forKey: [2]) == [2])
    }
  }

  @Test(.bug(id: "B08"), arguments: StoreVolume.allCases, [EIO, EPERM, EMFILE])
  func aManifestIsMissingOnlyWhereTheFolderCanBeRead(volume: StoreVolume, code: Int32) throws {
    let store = try makeStore(on: volume, flushed: true)
    try store.files.unlink(store["MANIFEST"])
    let faulty = FaultFileSystem(store.files)
    for position in 1... {
      faulty.plan(Fault(.error(code), at: position))
      let error = #expect(throws: DatabaseError.self) { try store.open(in: faulty) }
      guard faulty.wasHit else {
        #expect(isDamaged(error) && position > 3)
        return
      }
      switch error {
      case .io(let cause): #expect(cause.code == code && code != EPERM)
      case .notAvailableYet(let cause): #expect(cause.code == code && code == EPERM)
      default: Issue.record("call \(position): \(String(describing: error))")
      }
    }
  }

  @Test(.bug(id: "B02"), arguments: StoreVolume.allCases)
  func aLogThatDoesNotContinueTheStateIsDamage(volume: StoreVolume) throws {
    let store = try makeStore(on: volume, flushed: true)
    // The log of another moment of the same store, under the name of the live one.
    let logs = try store.names().filter { $0.hasSuffix(".log") }.sorted()
    let old = try #require(logs.first)
    let live = try #require(logs.last)
    #expect(logs.count == 2)
    try store.files.unlink(store[live])
    try store.files.link(store[old], to: store[live])
    #expect(isDamaged(failure(store)))
  }

  @Test(arguments: StoreVolume.allCases)
  func aStoreOfANewerFormatIsRefusedUntouched(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let files = store.files
    var bytes = try files.bytes(of: store["MANIFEST"])
    for start in [0, bytes.count / 2] {
      bytes[start + 8] = 9
      let header = bytes[start..<(start + FileHeader.byteCount - 4)]
      var checksum: [UInt8] = []
      checksum.append(u32: CRC32C.checksum(Array(header).rawBytes))
      bytes.replaceSubrange(header.endIndex..<(header.endIndex + 4), with: checksum)
    }
    try files.unlink(store["MANIFEST"])
    try files.create(store["MANIFEST"], bytes)
    let before = try files.list(store.path).sorted()
    #expect(
      failure(store) == .unsupportedFormat(fileName: "MANIFEST", found: 9, known: 0))
    #expect(try files.list(store.path).sorted() == before)
  }
}
