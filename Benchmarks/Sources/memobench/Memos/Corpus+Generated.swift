import Glibc

extension Corpus {
  /// Texts of made-up words with the sizes and the rhythm that were measured on real memos.
  static func generated(count: Int, seed: UInt64) -> Corpus {
    var random = Mixer(seed: seed)
    let words = (0..<4000).map { _ in word(&random) }
    var texts: [UInt8] = []
    var ends: [Int] = []
    var times: [Int64] = []
    var zones: [Int32] = []
    var days = Days(start: 946_684_800)
    for number in 0..<count {
      let start = texts.count
      if number > 0, Int.random(in: 0..<1000, using: &random) < 76 {
        // As often as real memos have the text of an earlier one.
        let other = Int.random(in: 0..<number, using: &random)
        texts.append(contentsOf: texts[(other == 0 ? 0 : ends[other - 1])..<ends[other]])
      } else {
        let size = bodySize.value(Double.random(in: 0..<1, using: &random))
        while texts.count < start + size {
          // The square makes few words common and many rare.
          let share = Double.random(in: 0..<1, using: &random)
          texts.append(contentsOf: words[Int(share * share * Double(words.count))])
          texts.append(UInt8(ascii: " "))
        }
        texts.removeLast(texts.count - start - size)
      }
      ends.append(texts.count)
      times.append(days.next(&random) * 1_000_000)
      // A traveller: another hour of the clock every 500 memos.
      zones.append(3600 * Int32(number / 500 % 12 - 6))
    }
    return Corpus(
      source: "\(count) generated texts with the sizes and times of real ones, seed \(seed)",
      texts: texts, ends: ends, times: times,
      zones: zones)
  }

  /// Bytes of a text at a share of all texts.
  private static let bodySize = Quantiles([
    (0, 1), (0.01, 7), (0.05, 15), (0.1, 21), (0.25, 34), (0.5, 55), (0.75, 109), (0.9, 265),
    (0.95, 434), (0.99, 1067), (0.999, 3312), (0.9994, 4096), (1, 16_055),
  ])

  private static func word(_ random: inout Mixer) -> [UInt8] {
    let vowels = Array("aeiou".utf8)
    let consonants = Array("bcdfghjklmnprstvwz".utf8)
    var letters: [UInt8] = []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      letters.append(consonants[Int.random(in: 0..<consonants.count, using: &random)])
      letters.append(vowels[Int.random(in: 0..<vowels.count, using: &random)])
    }
    return letters
  }
}

/// Seconds of memos, day by day.
private struct Days {
  private var day: Int64
  private var seconds: [Int64] = []

  /// Memos of a day at a share of all days.
  private static let memoCount = Quantiles([
    (0, 1), (0.02, 4), (0.1, 12), (0.25, 18), (0.5, 28), (0.9, 56), (0.99, 97), (1, 204),
  ])

  init(start: Int64) {
    day = start
  }

  mutating func next(_ random: inout Mixer) -> Int64 {
    if let second = seconds.popLast() { return second }
    for _ in 0..<Self.memoCount.value(Double.random(in: 0..<1, using: &random)) {
      // Awake from seven to midnight; a pair in 140 is of the same second.
      let isTogether = !seconds.isEmpty && Int.random(in: 0..<140, using: &random) == 0
      let second = day + Int64.random(in: 25_200..<86_400, using: &random)
      seconds.append(isTogether ? seconds[seconds.count - 1] : second)
    }
    seconds.sort(by: >)
    day += 86_400
    return next(&random)
  }
}

/// A distribution: values between measured points are as frequent in each order of magnitude.
private struct Quantiles {
  private let points: [(share: Double, value: Double)]

  init(_ points: [(share: Double, value: Double)]) {
    self.points = points
  }

  func value(_ share: Double) -> Int {
    for (low, high) in zip(points, points.dropFirst()) where share < high.share {
      let part = (share - low.share) / (high.share - low.share)
      return Int(low.value * pow(high.value / low.value, part))
    }
    return Int(points.last?.value ?? 0)
  }
}
