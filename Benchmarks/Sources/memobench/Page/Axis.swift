import Glibc

/// One direction of a plot: where values are, and what is written beside them.
struct Axis {
  /// A mark with its text.
  struct Tick {
    let place: Double
    let label: String
  }

  private let transform: (Double) -> Double
  private let low: Double
  private let high: Double
  let ticks: [Tick]

  private init(
    _ transform: @escaping (Double) -> Double, _ low: Double, _ high: Double,
    _ marks: [(value: Double, label: String)]
  ) {
    self.transform = transform
    self.low = low
    self.high = high
    let span = high - low
    ticks = marks.map { Tick(place: (transform($0.value) - low) / span, label: $0.label) }
  }

  /// From 0 at the start to 1 at the end.
  func place(_ value: Double) -> Double {
    min(max((transform(value) - low) / (high - low), 0), 1)
  }

  /// Powers of ten around some values; with few of them also twice and five times each.
  static func logarithmic(_ values: [Double], _ label: (Double) -> String) -> Axis {
    let positive = values.filter { $0 > 0 }
    let least = log10(positive.min() ?? 1)
    let most = log10(positive.max() ?? 10)
    let low = floor(least * 5) / 5
    let high = max(ceil(most * 5) / 5, low + 0.4)
    let factors: [Double] = high - low < 2.2 ? [1, 2, 5] : [1]
    let marks = (Int(floor(low))...Int(ceil(high))).flatMap { power in
      factors.map { $0 * pow(10, Double(power)) }
    }
    let inside = marks.filter { (low - 0.001...high + 0.001).contains(log10($0)) }
    return Axis(
      { log10(max($0, .leastNormalMagnitude)) }, low, high, inside.map { ($0, label($0)) })
  }

  /// Shares of samples, stretched towards the end: as far from 90 % to 99 % as to 99.9 %.
  static func tail(sampleCount: Int) -> Axis {
    let shares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999]
    let labels = ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]
    let last = 1 - 1 / Double(max(sampleCount, 10))
    let high = nines(last)
    let marks = zip(shares, labels).filter { nines($0.0) <= high + 0.001 }
    return Axis(nines, 0, high, marks.map { ($0.0, $0.1) })
  }

  /// How many nines a share has.
  private static func nines(_ share: Double) -> Double { -log10(max(1 - share, 1e-9)) }
}
