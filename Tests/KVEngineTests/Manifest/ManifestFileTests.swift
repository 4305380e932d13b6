import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Replacing the MANIFEST.
@Suite struct ManifestFileTests {
  private let recording = RecordingFileSystem()

  /// The MANIFEST of a store, behind planned faults, and its first state.
  private func makeStore() throws -> (ManifestFile, FaultFileSystem, Manifest) {
    let files = FaultFileSystem(recording)
    try files.makeDirectory("/store")
    let file = ManifestFile(files: files, folder: "/store")
    let manifest = ManifestSample.empty()
    _ = try file.publish(manifest)
    try files.syncDirectory("/")
    return (file, files, manifest)
  }

  private func next(_ manifest: Manifest, log: UInt64 = 2) -> Manifest {
    var next = manifest
    next.generation += 1
    next.logs = [log]
    next.nextFileNumber = log + 1
    return next
  }

  private func names(_ files: any FileSystem) throws -> Set<String> {
    Set(try files.list("/store"))
  }

  @Test func whatIsPublishedIsRead() throws {
    let (file, _, first) = try makeStore()
    let (read, origin) = try file.read()
    let identity = origin.identity
    #expect(read == first)
    #expect(try file.isCurrent(identity))
    let second = next(first)
    let published = try file.publish(second).identity
    #expect(try file.read().0 == second)
    #expect(try file.read().1.identity == published)
    #expect(try !file.isCurrent(identity) && file.isCurrent(published))
    #expect(try file.read(.oldManifest(1)).0 == first)
    #expect(try file.read(.oldManifest(2)).1.identity == published)
    #expect(try names(recording) == ["MANIFEST", "MANIFEST-000001", "MANIFEST-000002"])
  }

  @Test func aMissingManifestIsToldFromOneThatCannotBeRead() throws {
    let (file, files, _) = try makeStore()
    func failure() -> ManifestFile.ReadFailure? {
      do throws(ManifestFile.ReadFailure) {
        _ = try file.read()
        return nil
      } catch {
        return error
      }
    }
    for (code, isUnavailable) in [(EIO, false), (EPERM, true), (EMFILE, false)] {
      for position in 1...3 {
        files.plan(Fault(.error(code), at: position, of: [.open, .status, .read]))
        guard case .failed(let error) = failure() else {
          Issue.record("call \(position) did not fail")
          continue
        }
        let reported = if case .notAvailableYet = error { true } else { false }
        #expect(reported == isUnavailable && !isDamaged(error))
      }
    }
    files.plan()
    try files.unlink("/store/MANIFEST")
    guard case .missing = failure() else {
      Issue.record("a missing file was not told from a failure")
      return
    }
  }

  @Test(.bug(id: "B43")) func aPublishThatFailedBeforeTheRenameLeavesTheOldState() throws {
    let (file, files, first) = try makeStore()
    let before = try names(recording)
    let second = next(first)
    let kinds: Set<SystemError.Operation> = [
      .open, .write, .sync, .status, .link, .unlink, .syncDirectory,
    ]
    for progress in [Fault.Progress.nothing, .part] {
      for position in 1... {
        files.plan(Fault(.error(ENOSPC, after: progress), at: position, of: kinds))
        let outcome: ManifestFile.PublishFailure?
        do throws(ManifestFile.PublishFailure) {
          _ = try file.publish(second)
          outcome = nil
        } catch {
          outcome = error
        }
        let wasHit = files.wasHit
        files.plan()
        let read = try file.read().0
        switch outcome {
        case nil:
          // Failures to remove a left-over are none; the last round met no fault.
          #expect(read == second)
          _ = try file.publish(next(second))
          _ = try file.publish(first)
        case .unchanged:
          #expect(read == first, "call \(position)")
          #expect(try names(recording).isSuperset(of: before))
          let left: Set = ["MANIFEST.tmp", "MANIFEST-000002"]
          #expect(try names(recording).isDisjoint(with: left), "call \(position)")
        case .unknown:
          #expect(read == second, "call \(position)")
          _ = try file.publish(first)
        }
        if !wasHit { break }
      }
    }
  }

  @Test func aLeftOverOfAnEarlierPublishIsNoObstacle() throws {
    let (file, files, first) = try makeStore()
    try files.create("/store/MANIFEST.tmp", [1, 2, 3])
    try files.create("/store/MANIFEST-000002", [4, 5, 6])
    let second = next(first)
    _ = try file.publish(second)
    #expect(try file.read().0 == second)
    #expect(try file.read(.oldManifest(1)).0 == first)
    #expect(try file.read(.oldManifest(2)).0 == second)
  }

  @Test(arguments: [EPERM, EXDEV, EMLINK, ENOTSUP])
  func withoutLinksTheSecondNameIsAFileOfItsOwn(code: Int32) throws {
    let (file, files, first) = try makeStore()
    files.plan(Fault(.error(code), at: 1, of: [.link], isLasting: true))
    let second = next(first)
    let published = try file.publish(second).identity
    #expect(files.wasHit)
    let (copy, origin) = try file.read(.oldManifest(2))
    #expect(copy == second && origin.identity != published)
    try file.settle(2)
    #expect(try file.read().0 == second)
  }

  /// No publish syncs more often than it needs: the file, and the names before and after.
  @Test func aPublishSyncsThreeTimes() throws {
    let (file, _, first) = try makeStore()
    let before = recording.callCount([.sync, .syncDirectory])
    _ = try file.publish(next(first))
    #expect(recording.callCount([.sync, .syncDirectory]) == before + 3)
    try file.settle(2)
    #expect(recording.callCount([.sync, .syncDirectory]) == before + 3)
  }

  @Test func aStateThatNoReaderWouldTakeIsNotPublished() throws {
    let (file, _, first) = try makeStore()
    var large = next(first)
    large.segments = (0...Limits.Manifest.maximumSegmentCount).map { index in
      SegmentDescriptor(
        number: 10 + UInt64(index), identity: StoreIdentity(high: 0, low: 0), byteCount: 1,
        footerChecksum: 0, tier: 0, lowestSequence: 0, highestSequence: 0, spaces: [])
    }
    large.nextFileNumber = 100_000
    let before = recording.operationCount
    do throws(ManifestFile.PublishFailure) {
      _ = try file.publish(large)
      Issue.record("it was published")
    } catch {
      guard case .unchanged(let cause) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(cause.isSpace)
    }
    #expect(recording.operationCount == before)
    large.segments.removeLast()
    _ = try file.publish(large)
    #expect(try file.read().0.segments.count == Limits.Manifest.maximumSegmentCount)
  }

  /// Old or new, never neither, and with every file that it names.
  @Test(.bug(id: "B01"), .bug(id: "B40"), .bug(id: "B41"), .bug(id: "B47"))
  func aCrashAtAnyPointLeavesACompleteState() throws {
    let (file, files, first) = try makeStore()
    try files.create("/store/000001.log", [1]).sync()
    try files.syncDirectory("/store")
    let start = recording.operationCount
    // What a flush does: a new file, synced, and then the state that names it.
    try files.create("/store/000002.log.tmp", [2]).sync()
    try files.rename("/store/000002.log.tmp", to: "/store/000002.log")
    let second = next(first)
    _ = try file.publish(second)
    let end = recording.operationCount
    for count in start...end {
      for variant in CrashVariant.allCases {
        let seeds = variant == .names ? recording.nameSeeds(after: count) : 0..<7
        for seed in seeds {
          let image = recording.image(after: count, variant: variant, seed: seed)
          let comment = "after \(recording.operations.prefix(count).last.map { "\($0)" } ?? "")"
          let found = try ManifestFile(files: image, folder: "/store").read().0
          #expect(found == first || found == second, "\(variant) \(seed) \(comment)")
          for name in found.fileNames {
            let bytes = try? image.bytes(of: "/store/" + name.text)
            let expected = name == .log(1) ? [1] : [2] as [UInt8]
            #expect(bytes == expected, "\(variant) \(seed) \(comment): \(name.text)")
          }
          if count == end { #expect(found == second, "\(variant) \(seed)") }
        }
      }
    }
  }
}
