/// Numbers for people, without Foundation.
enum Format {
  static func number(_ value: Double, _ unit: Unit) -> String {
    switch unit {
    case .nanoseconds: duration(value)
    case .bytes: bytes(value)
    case .ratio: decimal(value, digits: 2)
    }
  }

  static func duration(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<1e3: "\(significant(nanoseconds)) ns"
    case ..<1e6: "\(significant(nanoseconds / 1e3)) us"
    case ..<1e9: "\(significant(nanoseconds / 1e6)) ms"
    default: "\(significant(nanoseconds / 1e9)) s"
    }
  }

  static func bytes(_ count: Double) -> String {
    switch count {
    case ..<1e3: "\(significant(count)) B"
    case ..<1e6: "\(significant(count / 1e3)) kB"
    default: "\(significant(count / 1e6)) MB"
    }
  }

  /// Three digits that count.
  private static func significant(_ value: Double) -> String {
    decimal(value, digits: value < 10 ? 2 : value < 100 ? 1 : 0)
  }

  static func decimal(_ value: Double, digits: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "?" }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value.magnitude * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    if digits == 0 { return sign + String(scaled) }
    let fraction = String(scaled % scale)
    return sign + String(scaled / scale) + "."
      + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  /// A round number for an axis: no digit that is zero behind the point.
  static func tick(_ value: Double, _ unit: Unit = .ratio) -> String {
    let steps: [(Double, String)] =
      switch unit {
      case .nanoseconds: [(1e9, " s"), (1e6, " ms"), (1e3, " us"), (1, " ns")]
      case .bytes: [(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1, " B")]
      case .ratio: [(1e6, "M"), (1e3, "k"), (1, "")]
      }
    let (scale, suffix) = steps.first { value >= $0.0 * 0.999 } ?? steps[steps.count - 1]
    var digits = decimal(value / scale, digits: 3)[...]
    while digits.hasSuffix("0") { digits = digits.dropLast() }
    if digits.hasSuffix(".") { digits = digits.dropLast() }
    return digits + suffix
  }

  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
