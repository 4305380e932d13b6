import Glibc

/// Durations of one operation, in nanoseconds.
struct Samples {
  private(set) var values: [Int] = []

  init(capacity: Int = 0) {
    values.reserveCapacity(capacity)
  }

  init(_ values: [Int]) {
    self.values = values
  }

  mutating func add(_ nanoseconds: Int) {
    values.append(nanoseconds)
  }

  mutating func add(_ others: Samples) {
    values += others.values
  }

  var mean: Double { Double(values.reduce(0, +)) / Double(max(values.count, 1)) }

  /// Runs an operation and adds how long it took.
  mutating func time<Result>(
    _ body: () throws(BenchmarkError) -> Result
  ) throws(BenchmarkError) -> Result {
    let start = now()
    let result = try body()
    values.append(now() - start)
    return result
  }

  /// The value that a share of the samples does not pass (nearest rank).
  ///
  /// - Parameter share: 0.5 is the median, 1 the maximum.
  /// - Returns: Nanoseconds; 0 without samples.
  func percentile(_ share: Double) -> Int {
    let sorted = values.sorted()
    if sorted.isEmpty { return 0 }
    let rank = (share * Double(sorted.count)).rounded(.up)
    return sorted[min(max(Int(rank), 1), sorted.count) - 1]
  }

  /// Points of the curve of all samples: durations and the share that took at most so long.
  ///
  /// - Parameter steps: How many points, as close at 99 % as at the median.
  /// - Returns: The points by duration; shares of the tail are as fine as those of the rest.
  func distribution(steps: Int) -> [(x: Double, y: Double)] {
    let sorted = values.sorted()
    let nines = log10(Double(max(sorted.count, 1)))
    return sorted.isEmpty
      ? []
      : (0...steps).map { step in
        let share = 1 - pow(10, -nines * Double(step) / Double(steps))
        let place = min(Int(share * Double(sorted.count)), sorted.count - 1)
        return (Double(sorted[place]), share)
      }
  }

  var median: Int { percentile(0.5) }
}
