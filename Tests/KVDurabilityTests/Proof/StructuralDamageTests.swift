import KVTestSupport
import Testing

@testable import KVEngine

/// Files whose structure is wrong in every way that a disk, a copy or a hand makes it.
///
/// Right data or an error, never wrong data, never a trap: T5 of the test plan (promises P7, P8,
/// P10).
@Suite struct StructuralDamageTests {
  enum Kind: CaseIterable, Sendable {
    case overwritten, extended, rearranged, exchanged
  }

  @Test(arguments: Kind.allCases)
  func damageIsSeenOrHarmless(kind: Kind) throws {
    let damaged = try DamagedStore()
    var (number, caseCount, damageCount, failureCount) = (0, 0, 0, 0)
    let step = Thoroughness.step(quick: 31)
    func check(_ change: DamagedStore.Case) {
      number += 1
      guard failureCount < 5, number % step == 0 else { return }
      caseCount += 1
      do {
        if try isDamaged(change, damaged.store, isUsed: number % 8 == 0) { damageCount += 1 }
      } catch {
        failureCount += 1
        Issue.record("\(change.name): \(error)")
      }
    }
    switch kind {
    case .overwritten: damaged.overwritten(check)
    case .extended: damaged.extended(check)
    case .rearranged: damaged.rearranged(check)
    case .exchanged: damaged.exchanged(check)
    }
    #expect(damageCount > 0 && damageCount < caseCount || !Thoroughness.isLarge)
    ProofTally.count("T5", "cases", caseCount)
  }

  private func isDamaged(
    _ change: DamagedStore.Case, _ store: SmallStore, isUsed: Bool
  ) throws -> Bool {
    let files = try MemoryFileSystem(storeFiles: change.files)
    let allowed = change.isRollback ? 0...store.lastIndex : store.lastIndex...store.lastIndex
    let outcome = try store.read(files, allowed: allowed)
    // Whatever it says, it says it in its own errors.
    do {
      _ = try SmallStore.open(in: files).verify()
    } catch {
      guard error is DatabaseError, case .damaged = outcome else { throw error }
    }
    guard case .state(let index) = outcome else { return true }
    if isUsed { try store.use(files, at: index) }
    return false
  }
}
