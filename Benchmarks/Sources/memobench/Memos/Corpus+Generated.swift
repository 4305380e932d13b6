extension Corpus {
  /// Texts of made-up words with the sizes and the rhythm that were measured on real memos.
  static func generated(count: Int, seed: UInt64) -> Corpus {
    var random = Mixer(seed: seed)
    let words = (0..<4000).map { _ in word(&random) }
    var texts: [UInt8] = []
    var ends: [Int] = []
    var times: [Int64] = []
    var time: Int64 = 946_684_800_000_000
    for _ in 0..<count {
      let size = bodySize(Double.random(in: 0..<1, using: &random))
      let end = texts.count + size
      while texts.count < end {
        // The square makes few words common and many rare.
        let share = Double.random(in: 0..<1, using: &random)
        texts.append(contentsOf: words[Int(share * share * Double(words.count))])
        texts.append(UInt8(ascii: " "))
      }
      texts.removeLast(texts.count - end)
      ends.append(end)
      // 28 a day; one in seventy in the same second as the one before.
      let isTogether = Int.random(in: 0..<70, using: &random) == 0
      time += isTogether ? 0 : Int64.random(in: 1..<6170, using: &random) * 1_000_000
      times.append(time)
    }
    return Corpus(
      source: "\(count) generated texts, seed \(seed)", texts: texts, ends: ends, times: times,
      zones: [Int32](repeating: 0, count: count))
  }

  /// Bytes of a text at a share of all texts, straight lines between measured points.
  private static func bodySize(_ share: Double) -> Int {
    let points: [(share: Double, size: Double)] = [
      (0, 1), (0.01, 7), (0.05, 15), (0.1, 21), (0.25, 34), (0.5, 55), (0.75, 109), (0.9, 265),
      (0.95, 434), (0.99, 1067), (0.999, 3312), (1, 16_055),
    ]
    for (low, high) in zip(points, points.dropFirst()) where share < high.share {
      let part = (share - low.share) / (high.share - low.share)
      return Int(low.size + part * (high.size - low.size))
    }
    return 55
  }

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
