import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// A full volume is an ordinary state: nothing acknowledged is lost, and writing goes on when there
/// is space again.
@Suite struct DiskFullTests {
  /// A volume with a file that takes all but some bytes of it.
  private func makeVolume(room: Int) throws -> MemoryFileSystem {
    let files = MemoryFileSystem(capacity: 1 << 20)
    try files.create("/ballast", [UInt8](repeating: 1, count: 1 << 20 - room))
    return files
  }

  @Test(.bug(id: "B59"), .bug(id: "B61"), arguments: 0..<4)
  func aFullVolumeLosesNothingAndRecovers(part: Int) throws {
    let steps = Thoroughness.part(of: 0..<40, step: 10)
    for step in steps {
      let room = (step * 4 + part) * 83
      do {
        try fill(room: room)
      } catch {
        Issue.record("room of \(room) bytes: \(error)")
      }
    }
    ProofTally.count("T11", "levels", steps.count)
  }

  private func fill(room: Int) throws {
    let recording = RecordingFileSystem(try makeVolume(room: room))
    var batches = BatchGenerator(seed: UInt64(room))
    var content = StoreContent()
    var refusalCount = 0

    func commit(to database: Database) throws {
      let batch = batches.batch()
      do {
        try database.write(batch.writeBatch(on: content), durability: batches.durability())
        content = batch.applied(to: content)
      } catch {
        guard case .diskFull = error else { throw error }
        refusalCount += 1
      }
    }
    let database = try TinyStore.open(in: recording)
    for number in 1...40 {
      try commit(to: database)
      if number % 16 == 9 { _ = try? database.flush() }
    }
    guard try database.countedContent() == content else { throw Problem("shows something else") }
    try database.close()

    let full = try TinyStore.open(in: recording)
    guard try full.countedContent() == content else { throw Problem("opens as something else") }
    for _ in 0..<3 { try commit(to: full) }
    guard try full.countedContent() == content else { throw Problem("shows something else") }
    guard refusalCount > 0 || room > 8000 else { throw Problem("the volume was never full") }

    // The same handle writes again as soon as there is space.
    try recording.unlink("/ballast")
    for _ in 0..<3 {
      let batch = batches.batch()
      try full.write(batch.writeBatch(on: content))
      content = batch.applied(to: content)
    }
    try full.flush()
    try full.close()
    let image = recording.image(after: recording.operationCount, variant: .strict)
    let recovered = try TinyStore.open(in: image)
    guard try recovered.countedContent() == content else { throw Problem("lost commits") }
    guard try recovered.verify().isSound else { throw Problem("is damaged") }
  }

  /// The write of a record takes its first bytes, then the volume is full.
  @Test func aRecordThatIsWrittenInPartIsThereOrNot() throws {
    let files = MemoryFileSystem()
    let database = try TinyStore.open(in: files)
    try database.write { $0.put([1], forKey: [1]) }
    try database.close()
    var outcomes: Set<String> = []
    for count in 0...120 {
      let faulty = FaultFileSystem(files.copy())
      let database = try TinyStore.open(in: faulty)
      faulty.plan(
        Fault(.short(count), at: 1, of: [.write]), Fault(.error(ENOSPC), at: 2, of: [.write]))
      do {
        try database.write { $0.put([2, 2, 2], forKey: [2]) }
        outcomes.insert("written")
        continue
      } catch {
        #expect(try database.value(forKey: [2]) == nil, "\(count) bytes")
        faulty.plan()
        try database.close()
        let found = try TinyStore.open(in: faulty).value(forKey: [2])
        switch error {
        case .diskFull:
          #expect(found == nil, "\(count) bytes")
          outcomes.insert("not written")
        case .outcomeUnknown:
          #expect(found == nil || found == [2, 2, 2], "\(count) bytes")
          outcomes.insert("unknown")
        default:
          Issue.record("\(count) bytes: \(error)")
        }
      }
    }
    #expect(outcomes == ["written", "not written", "unknown"])
  }

  /// A network volume takes a write and reports with it that an earlier one found no space.
  @Test func aRecordThatIsWrittenAndReportedAsFailedIsOfUnknownOutcome() throws {
    let files = FaultFileSystem(MemoryFileSystem())
    let database = try TinyStore.open(in: files)
    try database.write { $0.put([1], forKey: [1]) }
    files.plan(Fault(.error(ENOSPC, after: .everything), at: 1, of: [.write]))
    let error = #expect(throws: DatabaseError.self) {
      try database.write { $0.put([2], forKey: [2]) }
    }
    guard case .outcomeUnknown = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try database.value(forKey: [2]) == nil)
    #expect(throws: DatabaseError.failed) { try database.write { $0.put([3], forKey: [3]) } }
    try database.close()
    #expect(try TinyStore.open(in: files).value(forKey: [2]) == [2])
  }

  @Test(.bug(id: "B43"))
  func aPublishThatFailedIsNotContinued() throws {
    let recording = RecordingFileSystem()
    let files = FaultFileSystem(recording)
    let database = try TinyStore.open(in: files)
    var batches = BatchGenerator(seed: 12)
    var content = StoreContent()
    func commit() throws {
      let batch = batches.batch()
      try database.write(batch.writeBatch(on: content))
      content = batch.applied(to: content)
    }
    // Of the writes of a flush (segment, head of the log, MANIFEST) one fails, and then all of
    // them: the flush is tried again when the ballast was given up.
    for position in 1...3 {
      try commit()
      files.plan(
        Fault(.error(ENOSPC, after: .part), at: position, of: [.write], isLasting: true))
      let error = #expect(throws: DatabaseError.self) { try database.flush() }
      guard case .diskFull = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      files.plan()
      #expect(try database.countedContent() == content)
    }
    for _ in 0..<5 {
      try commit()
      try database.flush()
    }
    #expect(try database.verify().segmentCount == 5)
    try database.close()
    let image = recording.image(after: recording.operationCount, variant: .strict)
    #expect(try TinyStore.open(in: image).countedContent() == content)
  }
}
