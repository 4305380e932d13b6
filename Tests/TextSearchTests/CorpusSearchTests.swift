import Foundation
import KVTestSupport
import Testing

@testable import TextSearch

/// Recall and precision against a scan with nothing of ours, on real texts.
@Suite struct CorpusSearchTests {
  /// A text with its folded form by the oracle.
  private struct Sample {
    let text: String
    let folded: [UInt8]
    /// Where in the folded form no match may begin or end.
    let inner: Set<Int>

    init(_ text: String) {
      self.text = text
      let form = FoldingOracle.folded(text)
      folded = Array(form.utf8)
      var inner: Set<Int> = []
      var offset = 0
      for scalar in form.unicodeScalars {
        if offset > 0, scalar.value >= 0x300, FoldingOracle.attaches(scalar) {
          inner.insert(offset)
        }
        offset += scalar.utf8.count
      }
      self.inner = inner
    }

    /// Whether a folded part is there, by looking at every place.
    func holds(_ part: [UInt8]) -> Bool {
      var rest = folded[...]
      while let match = rest.firstRange(of: part) {
        if !inner.contains(match.lowerBound), !inner.contains(match.upperBound) { return true }
        rest = rest[(match.lowerBound + 1)...]
      }
      return false
    }
  }

  private static let data = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../shared/data").standardizedFileURL
  private static let files = ["memos-en.jsonl.gz", "memos-ja.jsonl.gz", "memos-edge.jsonl"]
  private static var isThere: Bool {
    files.allSatisfy { FileManager.default.isReadableFile(atPath: path($0)) }
  }

  private static func path(_ name: String) -> String { data.appendingPathComponent(name).path }

  /// The texts of every so many lines of a file; lines that Foundation refuses are left out.
  private static func texts(_ name: String, every step: Int) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", #"zcat -f "$0" | awk "NR % $1 == 0""#, path(name), "\(step)"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any]
      return object?["body"] as? String
    }
  }

  @Test(.enabled(if: isThere, "needs ../shared/data"))
  func everyTextOfTheEdgeFileIsFoldedAsUnicodeSays() throws {
    let texts = try Self.texts("memos-edge.jsonl", every: 1)
    #expect(texts.count > 350)
    for text in texts
    where text.utf8.count < 300_000 && text.unicodeScalars.allSatisfy(OddText.isOld) {
      #expect(bytes(folded(text)) == bytes(FoldingOracle.folded(text)), "\(scalars(text))")
    }
  }

  /// Searches of 1 to 12 characters cut from texts and written otherwise, each in many texts.
  @Test(.enabled(if: isThere, "needs ../shared/data"), arguments: files)
  func whatASearchFindsIsWhatAPlainScanFinds(file: String) throws {
    let step = file.contains("edge") ? 1 : file.contains("ja") ? 150 : 1000
    let samples = try Self.texts(file, every: step)
      .filter { $0.utf8.count < 20_000 && $0.unicodeScalars.allSatisfy(OddText.isOld) }
      .map(Sample.init)
    #expect(samples.count > 200)
    var generator = SeededGenerator(seed: 8)
    var buffer = FoldedText()
    var foundCount = 0
    var againCount = 0
    let queryCount = Thoroughness.count(quick: 150, push: 2000, nightly: 20_000)
    for number in 0..<queryCount {
      let source = samples[Int.random(in: 0..<samples.count, using: &generator)]
      let typed = Self.altered(Self.cut(source.text, &generator), &generator)
      let parts = typed.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
        .map { Array(FoldingOracle.folded(String($0)).utf8) }.filter { !$0.isEmpty }
      // A single character of the edge file is longer than a search may be.
      guard parts.map(\.count).reduce(0, +) <= SearchQuery.maximumByteCount else {
        #expect(throws: SearchQuery.Refusal.tooLong) { try SearchQuery(typed) }
        continue
      }
      let query = try SearchQuery(typed)
      if parts.allSatisfy(source.holds) { againCount += 1 }
      for sample in samples {
        let isWanted = parts.allSatisfy(sample.holds)
        if query.finds(sample.text, folded: &buffer) != isWanted {
          Issue.record("query \(number), \(scalars(typed)), in \(scalars(sample.text))")
        }
        guard isWanted, !parts.isEmpty else { continue }
        foundCount += 1
        // Folding each piece by the oracle takes longest.
        guard foundCount % 8 == 0 else { continue }
        checkRanges(query, parts, sample, &buffer, "query \(number), \(scalars(typed))")
      }
    }
    #expect(foundCount > queryCount && againCount > queryCount * 8 / 10, "\(againCount)")
  }

  /// Every range is whole scalars with a part inside; all parts are somewhere.
  private func checkRanges(
    _ query: SearchQuery, _ parts: [[UInt8]], _ sample: Sample, _ buffer: inout FoldedText,
    _ note: String
  ) {
    let ranges = query.ranges(in: sample.text, folded: &buffer, limit: 100_000)
    let utf8 = Array(sample.text.utf8)
    var missing = Set(parts)
    for range in ranges {
      let piece = String(validating: utf8[range], as: UTF8.self)
      let form = piece.map { Array(FoldingOracle.folded($0).utf8) } ?? []
      let held = parts.filter { form.firstRange(of: $0) != nil }
      #expect(!held.isEmpty, "\(note): \(range) of \(scalars(sample.text))")
      missing.subtract(held)
    }
    #expect(missing == [], "\(note) in \(scalars(sample.text))")
    #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
  }

  private static func cut(_ text: String, _ generator: inout SeededGenerator) -> String {
    // Also between a letter and its mark, where nothing may be found.
    let pieces =
      generator.coin() ? text.map { String($0) } : text.unicodeScalars.map { String($0) }
    guard !pieces.isEmpty else { return "" }
    let offset = Int.random(in: 0..<pieces.count, using: &generator)
    let count = Int.random(in: 1...12, using: &generator)
    return pieces.dropFirst(offset).prefix(count).joined().filter { !quotationMarks.contains($0) }
  }

  private static let quotationMarks = "\"\u{FF02}\u{201C}\u{201D}\u{201E}\u{201F}"

  /// The same text as somebody else, or another program, might write it.
  private static func altered(_ text: String, _ generator: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: text.decomposedStringWithCanonicalMapping
    case 1: text.precomposedStringWithCompatibilityMapping
    case 2: text.uppercased()
    case 3: text.lowercased()
    case 4: shifted(text, 0x21...0x7E, by: 0xFEE0)
    case 5: shifted(text, 0x3041...0x3096, by: 0x60)
    default: shifted(text, 0x30A1...0x30F6, by: -0x60)
    }
  }

  private static func shifted(_ text: String, _ range: ClosedRange<Int>, by distance: Int) -> String
  {
    FoldingOracle.string(
      text.unicodeScalars.map { scalar in
        let value = Int(scalar.value)
        // A quotation mark that was none would be one.
        guard range.contains(value), value != 0x22 else { return scalar }
        return Unicode.Scalar(UInt32(value + distance)) ?? scalar
      })
  }
}
