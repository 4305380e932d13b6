import Foundation

/// How much of an enumeration runs; every test that has a choice asks here.
package enum Thoroughness: Int, Comparable, Sendable {
  /// Without optimisation or under a sanitizer: a part of each enumeration.
  ///
  /// Byte code is 14 to 45 times slower without optimisation, and five to ten times under a
  /// sanitizer, which makes seconds minutes.
  case quick
  /// In release builds: everything that fits in minutes.
  case push
  /// With `MEMOKV_PROOF=nightly`: hours, with seeds from `MEMOKV_SEED` on.
  case nightly

  package static let current: Thoroughness = {
    let environment = ProcessInfo.processInfo.environment
    if environment["MEMOKV_PROOF"] == "nightly" { return .nightly }
    #if DEBUG
      return .quick
    #else
      return environment["MEMOKV_QUICK_TESTS"] == nil ? .push : .quick
    #endif
  }()

  /// Whether enumerations are complete.
  package static var isFull: Bool { current >= .push }

  package static func < (left: Thoroughness, right: Thoroughness) -> Bool {
    left.rawValue < right.rawValue
  }

  /// What belongs to the thoroughness of this run.
  package static func choose<Choice>(quick: Choice, push: Choice, nightly: Choice) -> Choice {
    switch current {
    case .quick: quick
    case .push: push
    case .nightly: nightly
    }
  }

  /// Added to the seeds of proofs: `MEMOKV_SEED`, 0 without it, so that a push is reproducible.
  package static let seedBase: UInt64 =
    ProcessInfo.processInfo.environment["MEMOKV_SEED"].flatMap { UInt64($0) } ?? 0

  /// Seeds of this run.
  package static func seeds(_ count: Int) -> [UInt64] {
    (0..<UInt64(count)).map { seedBase &+ $0 }
  }

  /// Every value where everything runs, else every `step`-th one, from an own offset on.
  package static func part(of range: Range<Int>, step: Int, offset: Int = 0) -> [Int] {
    isFull ? Array(range) : range.filter { $0 % step == offset % step }
  }
}
