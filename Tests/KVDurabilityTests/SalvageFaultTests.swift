import Glibc
import KVSalvage
import KVTestSupport
import Testing

@testable import KVEngine

/// Failing disks and power cuts during a salvage.
@Suite struct SalvageFaultTests {
  private func salvage(_ files: any FileSystem) throws(DatabaseError) -> SalvageReport {
    try Database.salvage(
      storeAt: TinyStore.path, to: "/rescued", in: files, options: SmallStore.options)
  }

  private func rescued(_ files: any FileSystem) throws(DatabaseError) -> Database {
    var options = SmallStore.options
    options.createIfMissing = false
    return try Database(at: "/rescued", in: files, options: options)
  }

  /// A read that fails once costs what it would have brought, at most; nothing wrong comes of it.
  @Test(.bug(id: "B08")) func aFailingReadIsALossOrAnError() throws {
    let store = try SmallStore()
    for position in 1... {
      let files = FaultFileSystem(store.files.copy())
      files.plan(Fault(.error(EIO), at: position, of: [.open, .read, .status]))
      do {
        let report = try salvage(files)
        let wasHit = files.wasHit
        files.plan()
        let database = try rescued(files)
        #expect(try database.verify().isSound, "read \(position)")
        let content = try database.content()
        if report.isComplete { #expect(content == store.states.last) }
        if !wasHit { return #expect(position > 20) }
      } catch let error as DatabaseError {
        switch error {
        case .io, .notWritten: continue
        default: throw error
        }
      }
    }
  }

  @Test(arguments: [EIO, ENOSPC]) func aFailingWriteLeavesNoStore(code: Int32) throws {
    let store = try SmallStore()
    let names: [SystemError.Operation] = [
      .write, .sync, .syncDirectory, .rename, .link, .makeDirectory,
    ]
    for position in 1... {
      let files = FaultFileSystem(store.files.copy())
      files.plan(Fault(.error(code), at: position, of: Set(names)))
      do throws(DatabaseError) {
        _ = try salvage(files)
        guard files.wasHit else { return #expect(position > 5) }
        Issue.record("call \(position) was not noticed")
      } catch {
        switch error {
        case .diskFull: #expect(code == ENOSPC)
        case .notWritten, .io: break
        default: Issue.record("\(error) at call \(position)")
        }
      }
    }
  }

  @Test(arguments: CrashVariant.allCases)
  func aPowerCutLeavesAllOrNothing(variant: CrashVariant) throws {
    let store = try SmallStore()
    let recording = RecordingFileSystem()
    try recording.makeDirectory(TinyStore.path)
    for (name, bytes) in try store.files.storeFiles() {
      try recording.create(TinyStore.path + "/" + name, bytes).sync()
    }
    try recording.syncDirectory(TinyStore.path)
    try recording.syncDirectory("/")
    let start = recording.operationCount
    _ = try salvage(recording)
    let end = recording.operationCount
    #expect(end > start + 5)
    for count in start...end {
      for seed in 0..<4 as Range<UInt64> {
        let image = recording.image(after: count, variant: variant, seed: seed)
        let comment: Comment = "\(variant) seed \(seed) after \(count) of \(end)"
        do {
          let database = try rescued(image)
          #expect(try database.verify().isSound, comment)
          #expect(try database.content() == store.states.last, comment)
        } catch let error as DatabaseError {
          #expect(count < end, comment)
          switch error {
          case .damaged, .notFound: continue
          default: Issue.record("\(error): \(comment)")
          }
        }
      }
    }
  }
}
