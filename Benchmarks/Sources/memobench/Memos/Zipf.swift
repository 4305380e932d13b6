import Glibc

/// Ranks whose frequency falls with a power of the rank, 0.99 as in YCSB.
struct Zipf {
  /// Sums of the frequencies up to each rank.
  private let sums: [Double]

  init(_ count: Int) {
    var sum = 0.0
    sums = (1...count).map { rank in
      sum += pow(Double(rank), -0.99)
      return sum
    }
  }

  /// A rank from 0 on.
  func next(_ random: inout Mixer) -> Int {
    let share = Double.random(in: 0..<(sums.last ?? 1), using: &random)
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] <= share { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
