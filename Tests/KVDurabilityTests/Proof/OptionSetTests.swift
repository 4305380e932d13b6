import KVTestSupport
import Testing

@testable import KVEngine

/// The same calls under other options give the same answers: T9 of the test plan.
///
/// The codec is chosen when the package is built: `make test-alone` runs this with the other one.
@Suite struct OptionSetTests {
  private static let settings: [(name: String, setting: ModelSetting)] = [
    ("tiny", .tiny),
    ("large blocks", changed { $0.options.blockByteCount = 4096 }),
    (
      "large log and segments",
      changed {
        $0.options.logByteCount = 64 << 10
        $0.options.segmentByteCount = 1 << 20
      }
    ),
    (
      "no cache, one descriptor",
      changed {
        $0.options.cacheByteCount = 0
        $0.options.descriptorCount = 1
      }
    ),
    (
      "no filters",
      changed { $0.options.policy = { _ in SpacePolicy(filter: .none) } }
    ),
    ("no notes of gaps", changed { $0.options.notesGaps = false }),
    (
      "never merged, every commit lazy",
      changed {
        $0.merging = .never
        $0.durability = .lazy
      }
    ),
    (
      "always merged, every commit durable",
      changed {
        $0.merging = .afterEveryCommit
        $0.durability = .full
      }
    ),
  ]

  private static func changed(_ change: (inout ModelSetting) -> Void) -> ModelSetting {
    var setting = ModelSetting.tiny
    change(&setting)
    return setting
  }

  private static let callCount = 600
  private static let seeds = Thoroughness.seeds(
    Thoroughness.count(quick: 2, push: 20, nightly: 100))

  @Test(arguments: seeds)
  func optionsChangeNoAnswer(seed: UInt64) throws {
    var history = ModelHistory(seed: seed ^ 9 << 32, count: Self.callCount)
    // What a crash takes depends on what was durable.
    history.calls.removeAll { call in
      if case .crash = call { true } else { false }
    }
    let expected = try history.run(Self.settings[0].setting)
    for (name, setting) in Self.settings.dropFirst() {
      do throws(ModelHistory.Failure) {
        let answers = try history.run(setting)
        #expect(answers == expected, "seed \(seed), \(name)")
      } catch {
        Issue.record("seed \(seed), \(name): \(error.reason) at call \(error.position)")
      }
    }
    ProofTally.count("T9", "calls", history.calls.count * Self.settings.count)
  }
}
