import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// The end of the log: what is an ordinary end, what is damage, and what nobody can know.
@Suite struct LogDamageTests {
  private static let logPath = TinyStore.path + "/000001.log"

  /// A store that is a log of some commits, each in mode full: commit n puts n under key n.
  private func makeStore(_ count: Int) throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    let database = try Database(at: TinyStore.path, in: files, options: DatabaseOptions())
    for number in 1...count { try database.put(UInt8(number)) }
    try database.close()
    return files
  }

  private func records(_ files: MemoryFileSystem) throws -> [LogContents.Record] {
    let location = StoreLocation(files: files, folder: TinyStore.path)
    guard case .store(let store) = try Recovery.find(at: location), let log = store.logs.last
    else { throw Problem("no store") }
    return log.records
  }

  private func found(_ files: MemoryFileSystem) throws -> [UInt8] {
    let database = try Database(at: TinyStore.path, in: files, options: DatabaseOptions())
    return try database.numbers()
  }

  @Test(.bug(id: "B08"))
  func aFailingReadIsNoEndOfTheLog() throws {
    let files = try makeStore(50)
    for code in [EIO, EACCES, EMFILE, EINTR] {
      for position in 1... {
        let recording = RecordingFileSystem(files.copy())
        let faulty = FaultFileSystem(recording, Fault(.error(code), at: position))
        do {
          let database = try Database(at: TinyStore.path, in: faulty, options: DatabaseOptions())
          #expect(try database.numbers() == Array(1...50), "\(code) at call \(position)")
        } catch {
          guard case DatabaseError.io(let failure) = error else { throw error }
          #expect(failure.code == code)
        }
        #expect(recording.operationCount == 0)
        let again = try Database(at: TinyStore.path, in: recording, options: DatabaseOptions())
        #expect(try again.numbers() == Array(1...50))
        if !faulty.wasHit {
          #expect(position > 4)
          break
        }
      }
    }
  }

  @Test(.bug(id: "B07"), arguments: [1, 7, 511, 512, 4096, 1_000_000])
  func zerosBehindTheEndAreTheEnd(count: Int) throws {
    let files = try makeStore(5)
    let bytes = try files.bytes(of: Self.logPath) + [UInt8](repeating: 0, count: count)
    let image = try files.replacing(Self.logPath, with: bytes)
    #expect(try found(image) == [1, 2, 3, 4, 5])
    let database = try Database(at: TinyStore.path, in: image, options: DatabaseOptions())
    try database.put(6)
    try database.close()
    #expect(try found(image) == [1, 2, 3, 4, 5, 6])
  }

  @Test(.bug(id: "B07"), arguments: 0..<4)
  func zerosInFrontOfADurableRecordAreDamage(index: Int) throws {
    let files = try makeStore(5)
    let record = try records(files)[index]
    var bytes = try files.bytes(of: Self.logPath)
    let range = record.offset..<record.payload.upperBound
    bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
    let image = try files.replacing(Self.logPath, with: bytes)
    let before = image.tree
    let error = #expect(throws: DatabaseError.self) { _ = try found(image) }
    guard case .damaged(let corruption) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(corruption.fileName == "000001.log" && corruption.offset == record.offset)
    #expect(image.tree.files.keys == before.files.keys)
  }

  @Test(.bug(id: "B11"), arguments: ["zeros", "old", "random"])
  func aTornLastRecordGivesNoValue(content: String) throws {
    let files = MemoryFileSystem()
    let database = try Database(at: TinyStore.path, in: files, options: DatabaseOptions())
    for number in 1...3 as ClosedRange<UInt8> {
      try database.write { $0.put([UInt8](repeating: number, count: 2000), forKey: [number]) }
    }
    try database.close()
    let record = try records(files)[2]
    var generator = SeededGenerator(seed: 3)
    for start in stride(from: record.payload.lowerBound, to: record.payload.upperBound, by: 128) {
      var bytes = try files.bytes(of: Self.logPath)
      let range = start..<min(start + 512, record.payload.upperBound)
      let replacement =
        switch content {
        case "zeros": [UInt8](repeating: 0, count: range.count)
        case "old": [UInt8](repeating: 2, count: range.count)
        default: generator.bytes(range.count)
        }
      bytes.replaceSubrange(range, with: replacement)
      let image = try files.replacing(Self.logPath, with: bytes)
      let reopened = try Database(at: TinyStore.path, in: image, options: DatabaseOptions())
      #expect(try reopened.value(forKey: [3]) == nil, "byte \(start)")
      for number in [1, 2] as [UInt8] {
        #expect(try reopened.value(forKey: [number])?.count == 2000)
      }
      try reopened.write { $0.put([4], forKey: [4]) }
      try reopened.close()
      let again = try Database(at: TinyStore.path, in: image, options: DatabaseOptions())
      #expect(try again.value(forKey: [3]) == nil, "byte \(start)")
      #expect(try again.value(forKey: [4]) == [4], "byte \(start)")
    }
  }

  @Test(.bug(id: "B04"))
  func aBatchCutAnywhereIsThereOrNot() throws {
    let files = MemoryFileSystem()
    let database = try Database(at: TinyStore.path, in: files, options: DatabaseOptions())
    try database.put(0)
    try database.write { batch in
      for number in 1...100 as ClosedRange<UInt8> { batch.put([number], forKey: [number]) }
    }
    try database.close()
    let records = try records(files)
    let bytes = try files.bytes(of: Self.logPath)
    let end = records[1].offset + records[1].head.recordByteCount
    for count in records[1].offset...end {
      let image = try files.replacing(Self.logPath, with: Array(bytes.prefix(count)))
      let expected = count < end ? [0] : Array(0...100 as ClosedRange<UInt8>)
      #expect(try found(image) == expected, "cut to \(count)")
    }
  }

  @Test(.bug(id: "B10"))
  func aMissingLogIsDamage() throws {
    let files = try makeStore(5)
    try files.unlink(Self.logPath)
    let recording = RecordingFileSystem(files)
    let error = #expect(throws: DatabaseError.self) {
      try Database(at: TinyStore.path, in: recording, options: DatabaseOptions())
    }
    guard case .damaged(let corruption) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(corruption.fileName == "000001.log")
    #expect(recording.operationCount == 0)
  }

  @Test func aMissingManifestIsDamage() throws {
    let files = try makeStore(5)
    try files.unlink(TinyStore.path + "/MANIFEST")
    let recording = RecordingFileSystem(files)
    let error = #expect(throws: DatabaseError.self) {
      try Database(at: TinyStore.path, in: recording, options: DatabaseOptions())
    }
    guard case .damaged = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(recording.operationCount == 0)
  }
}

extension Database {
  /// Puts a number under itself, durably.
  fileprivate func put(_ number: UInt8) throws {
    try write { $0.put([number], forKey: [number]) }
  }

  /// The numbers that are there.
  fileprivate func numbers() throws -> [UInt8] {
    var cursor = try cursor()
    var numbers: [UInt8] = []
    while let entry = try cursor.next() {
      #expect(entry.key == entry.value)
      numbers.append(entry.key[0])
    }
    return numbers
  }
}
