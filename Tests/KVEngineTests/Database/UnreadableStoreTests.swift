import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// What is asked of a whole store whose files cannot be read: a failure, and never damage.
@Suite struct UnreadableStoreTests {
  enum Question: CaseIterable {
    case verification, summary

    func ask(_ database: Database) throws(DatabaseError) {
      switch self {
      case .verification: _ = try database.verify()
      case .summary: _ = try database.storeSummary()
      }
    }
  }

  /// A store with segments, a log, and files that were replaced.
  private func fill(_ store: StoreSample) throws {
    let database = try store.open()
    for key in 1...2 as ClosedRange<UInt8> {
      try database.put([key], [key])
      try database.flush()
    }
    try database.put([3], [3])
    try database.close()
  }

  @Test(.bug(id: "B08"), arguments: StoreVolume.allCases, Question.allCases)
  func callsThatFailAreNoDamage(volume: StoreVolume, question: Question) throws {
    for code in [EIO, EPERM, EMFILE] {
      var store = try StoreSample(on: volume)
      try fill(store)
      let files = store.addFaults()
      for position in 1... {
        let database = try store.open()
        files.plan(Fault(.error(code), at: position, isLasting: true))
        var isDone = false
        do throws(DatabaseError) {
          try question.ask(database)
          isDone = true
        } catch {
          switch error {
          case .io(let cause): #expect(cause.code == code && code != EPERM)
          case .notAvailableYet(let cause): #expect(cause.code == code && code == EPERM)
          default: Issue.record("call \(position): \(error)")
          }
        }
        let wasHit = files.wasHit
        files.plan()
        #expect(isDone != wasHit, "call \(position)")
        #expect(try database.verify().isSound)
        try database.close()
        if !wasHit {
          #expect(position > 8)
          break
        }
      }
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func aStoreThatIsNotThereHasNoSummary(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let database = try store.open()
    #expect(throws: DatabaseError.notFound(fileName: store.path)) { try database.storeSummary() }
    #expect(try database.verify().isSound)
    try database.put([1], [1])
    #expect(try database.storeSummary().sequence == 1)
  }
}
