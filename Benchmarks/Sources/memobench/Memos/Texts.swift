/// Which memos have other texts by now.
struct Texts {
  private var changes: [Int: Int] = [:]

  /// The number of the memo whose first text a memo has now.
  func text(_ number: Int) -> Int {
    number + (changes[number] ?? 0) * 7
  }

  mutating func change(_ number: Int) {
    changes[number, default: 0] += 1
  }
}
