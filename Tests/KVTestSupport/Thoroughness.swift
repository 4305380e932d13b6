import Foundation

/// How much of an enumeration runs.
package enum Thoroughness {
  /// Whether everything runs: in release builds, unless `MEMOKV_QUICK_TESTS` is set.
  ///
  /// Byte code is 14 to 45 times slower without optimisation, and five to ten times under a
  /// sanitizer, which makes seconds minutes.
  package static let isFull: Bool = {
    #if DEBUG
      return false
    #else
      return ProcessInfo.processInfo.environment["MEMOKV_QUICK_TESTS"] == nil
    #endif
  }()

  /// Every value where everything runs, else every `step`-th one, from an own offset on.
  package static func part(of range: Range<Int>, step: Int, offset: Int = 0) -> [Int] {
    isFull ? Array(range) : range.filter { $0 % step == offset % step }
  }
}
