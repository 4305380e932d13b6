import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Every call to the disk fails once, or from some moment on: what was acknowledged is there, what
/// was refused is not, and nothing is there in part.
@Suite struct DatabaseFaultTests {
  enum Kind: CaseIterable {
    case ioError, ioErrorAfterPart, ioErrorFromNowOn, falseError, full, fullAfterPart, fullFromNowOn
    case noDescriptor, readOnly

    func fault(at position: Int) -> Fault {
      switch self {
      case .ioError: Fault(.error(EIO), at: position)
      case .ioErrorAfterPart: Fault(.error(EIO, after: .part), at: position, of: [.write])
      case .ioErrorFromNowOn: Fault(.error(EIO), at: position, isLasting: true)
      case .falseError: Fault(.error(EIO, after: .everything), at: position)
      case .full: Fault(.error(ENOSPC), at: position, of: Self.spaceUsers)
      case .fullAfterPart: Fault(.error(ENOSPC, after: .part), at: position, of: [.write])
      case .fullFromNowOn:
        Fault(.error(ENOSPC), at: position, of: Self.spaceUsers, isLasting: true)
      case .noDescriptor: Fault(.error(EMFILE), at: position, of: [.open, .list, .lock])
      case .readOnly: Fault(.error(EROFS), at: position, of: Self.spaceUsers, isLasting: true)
      }
    }

    private static let spaceUsers: Set<SystemError.Operation> = [
      .open, .write, .sync, .link, .rename, .makeDirectory,
    ]
  }

  /// What became of each batch.
  private struct Outcome {
    var stored: Set<UInt8> = []
    var unknown: Set<UInt8> = []
    var refused: Set<UInt8> = []
  }

  /// Commits batches of these numbers, opening again where a handle is finished.
  private func run(
    _ store: StoreSample, _ numbers: ClosedRange<UInt8>, _ outcome: inout Outcome
  ) throws {
    var database: Database?
    for number in numbers {
      var isRefused = true
      do throws(DatabaseError) {
        let handle = if let database { database } else { try store.open() }
        database = handle
        try handle.write(
          NumberedCommits.batch(number), durability: number % 5 == 0 ? .lazy : .full)
        outcome.stored.insert(number)
        isRefused = false
      } catch {
        switch error {
        case .outcomeUnknown:
          outcome.unknown.insert(number)
        case .notWritten, .diskFull, .readOnlyLocation, .io, .notAvailableYet:
          outcome.refused.insert(number)
        case .failed:
          outcome.refused.insert(number)
          try? database?.close()
          database = nil
        default: throw error
        }
      }
      // What was refused or is unknown is never seen by the handle that was told so.
      if isRefused, let database, let seen = try? NumberedCommits.numbers(in: database) {
        let isRight = Set(seen).isSuperset(of: outcome.stored)
        #expect(isRight && Set(seen).isDisjoint(with: outcome.refused))
      }
    }
    try? database?.close()
  }

  @Test(
    .bug(id: "B59"), .bug(id: "B61"), .bug(id: "B65"), .bug(id: "B43"), arguments: Kind.allCases)
  func noFailingCallLosesOrHalvesABatch(kind: Kind) throws {
    for position in 1... {
      let files = FaultFileSystem(RecordingFileSystem())
      let store = StoreSample(files, isTiny: true)
      var outcome = Outcome()
      try run(store, 1...2, &outcome)
      files.plan(kind.fault(at: position))
      try run(store, 3...9, &outcome)
      let wasHit = files.wasHit
      files.plan()
      let comment = "\(kind) at call \(position): \(outcome)"
      let database = try store.open()
      let numbers = try #require(try NumberedCommits.numbers(in: database), "\(comment)")
      let found = Set(numbers)
      #expect(found.isSuperset(of: outcome.stored), "\(comment)")
      #expect(found.isDisjoint(with: outcome.refused), "\(comment)")
      #expect(found.isSubset(of: outcome.stored.union(outcome.unknown)), "\(comment)")
      #expect(outcome.stored.isSuperset(of: 1...2))
      try database.close()
      // Without the fault the store goes on.
      try run(store, 30...32, &outcome)
      #expect(outcome.stored.isSuperset(of: 30...32), "\(comment)")
      let last = try store.open()
      let end = try #require(try NumberedCommits.numbers(in: last), "\(comment)")
      #expect(Set(end) == found.union(30...32), "\(comment)")
      #expect(try last.verify().damage == [], "\(comment)")
      if !wasHit {
        #expect(outcome.refused.isEmpty && outcome.unknown.isEmpty && position > 10)
        ProofTally.count("T6", "faults", position - 1)
        return
      }
    }
  }
}
