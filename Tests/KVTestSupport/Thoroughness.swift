import Foundation

/// How much of an enumeration runs; every test that has a choice asks here.
///
/// `MEMOKV_TESTS` names it. Without a name it is ``push`` in release builds and ``quick`` in debug
/// builds: byte code is 14 to 45 times slower without optimisation.
package enum Thoroughness: String, Sendable {
  /// A sample, for sanitizers, under which everything takes five to ten times as long.
  case quick
  /// A quarter of a push at least.
  case quarter
  /// Everything that fits in minutes.
  case push
  /// Hours, with seeds from `MEMOKV_SEED` on.
  case nightly

  package static let current: Thoroughness = {
    let name = ProcessInfo.processInfo.environment["MEMOKV_TESTS"]
    if let name, let named = Thoroughness(rawValue: name) { return named }
    #if DEBUG
      return .quick
    #else
      return .push
    #endif
  }()

  /// Whether enumerations are complete.
  package static var isFull: Bool { current == .push || current == .nightly }

  /// Whether more runs than a sample.
  package static var isLarge: Bool { current != .quick }

  /// As many cases as belong to the thoroughness of this run.
  package static func count(quick: Int, push: Int, nightly: Int) -> Int {
    switch current {
    case .quick: quick
    case .quarter: max(quick, (push + 3) / 4)
    case .push: push
    case .nightly: nightly
    }
  }

  /// Every how many cases one runs.
  package static func step(quick: Int, push: Int = 1, nightly: Int = 1) -> Int {
    switch current {
    case .quick: quick
    case .quarter: min(quick, push * 4)
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

  /// Every value where everything runs, else every so many, from an own offset on.
  package static func part(of range: Range<Int>, step quick: Int, offset: Int = 0) -> [Int] {
    let step = step(quick: quick)
    return range.filter { $0 % step == offset % step }
  }
}
