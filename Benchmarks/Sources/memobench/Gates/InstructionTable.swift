import Glibc

/// The checked-in table of instructions per operation, one for each kind of processor.
struct InstructionTable {
  /// What a work may need above its number in the table.
  static let room = 1.1

  private(set) var counts: [(work: String, count: Int)] = []

  init(_ counts: [(work: String, count: Int)]) {
    self.counts = counts
  }

  /// Where the table of this processor is.
  static func path(below repository: String) -> String {
    var name = utsname()
    uname(&name)
    let machine = withUnsafeBytes(of: &name.machine) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return repository + "/Benchmarks/instructions-\(machine).txt"
  }

  /// Reads a table; lines that begin with a number sign are comments.
  init(at path: String) throws(BenchmarkError) {
    for line in try Files.text(of: path).split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      guard words.count == 2, let count = Int(words[1]) else {
        throw BenchmarkError("\(path): no line of the table: \(line)")
      }
      counts.append((String(words[0]), count))
    }
  }

  func write(to path: String) throws(BenchmarkError) {
    let head = """
      # Instructions per operation, counted by callgrind. make bench-ci allows 10 % more.
      # Written by: make bench-bounds. Swift 6.3, release build with a static standard library.

      """
    let lines = counts.map { Format.left($0.work, 20) + Format.right("\($0.count)", 12) + "\n" }
    try Files.write(head + lines.joined(), to: path)
  }

  func count(of work: String) -> Int? {
    counts.first { $0.work == work }?.count
  }

  /// The largest number that passes.
  func allowed(_ work: String) -> Int? {
    count(of: work).map { Int(Double($0) * Self.room) }
  }
}
