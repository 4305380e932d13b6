import Foundation
import KVEngine
import KVTestSupport
import Testing

@testable import KVInspectCore

@Suite struct LineReaderTests {
  /// What a reader makes of bytes that come through a pipe.
  private func lines(
    _ bytes: [UInt8], limit: Int = LineReader.standardLineByteCount, chunk: Int = 7
  ) throws -> [LineReader.Line] {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
    try pipe.fileHandleForWriting.close()
    var reader = LineReader(
      descriptor: pipe.fileHandleForReading.fileDescriptor, name: "pipe",
      maximumLineByteCount: limit, chunkByteCount: chunk)
    var lines: [LineReader.Line] = []
    while let line = try reader.next() { lines.append(line) }
    let afterEnd = try reader.next()
    #expect(afterEnd == nil)
    return lines
  }

  private func texts(_ lines: [LineReader.Line]) -> [String] {
    lines.map { line in
      switch line.content {
      case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
      case .tooLong(let byteCount): "<\(byteCount)>"
      }
    }
  }

  @Test(arguments: [
    ("", []), ("\n", [""]), ("\n\n", ["", ""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]),
    ("\na\n\nbc\n", ["", "a", "", "bc"]), ("a\r\nb\r\n", ["a\r", "b\r"]),
    ("1234567", ["1234567"]), ("123456\n7", ["123456", "7"]), ("1234567\n", ["1234567"]),
    ("12345678901234567890\nx", ["12345678901234567890", "x"]),
  ])
  func splitsAtLineFeeds(text: String, expected: [String]) throws {
    for chunk in [1, 2, 7, 8, 64] {
      let lines = try lines(Array(text.utf8), chunk: chunk)
      #expect(texts(lines) == expected, "chunk \(chunk)")
      #expect(lines.map(\.number) == Array(1..<(expected.count + 1)), "chunk \(chunk)")
    }
  }

  @Test(arguments: [1, 3, 10, 64]) func skipsLinesThatAreTooLong(chunk: Int) throws {
    let text = "12345\n123456\n\n1234567890123\n12345\n123456"
    let lines = try lines(Array(text.utf8), limit: 5, chunk: chunk)
    #expect(texts(lines) == ["12345", "<6>", "", "<13>", "12345", "<6>"])
    #expect(lines.map(\.number) == [1, 2, 3, 4, 5, 6])
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func joinedLinesAreTheInput(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
        generator.coin() ? UInt8(ascii: "\n") : UInt8.random(in: 0...255, using: &generator)
      }
      let lines = try lines(bytes, chunk: Int.random(in: 1...40, using: &generator))
      let contents = lines.map { line -> [UInt8] in
        if case .bytes(let content) = line.content { return content }
        return []
      }
      var joined = Array(contents.joined(separator: [UInt8(ascii: "\n")]))
      if bytes.last == UInt8(ascii: "\n") { joined.append(UInt8(ascii: "\n")) }
      #expect(joined == bytes, "seed \(seed)")
    }
  }

  @Test func readsAFile() throws {
    var reader = try LineReader(path: Fixture.broken)
    var count = 0
    while let line = try reader.next() { count = line.number }
    #expect(count == 52)
  }

  @Test func saysWhichFileIsMissing() throws {
    let path = Fixture.path("missing.jsonl")
    #expect(throws: SystemError(.open, path, code: ENOENT)) { _ = try LineReader(path: path) }
  }

  @Test func saysThatAFolderCannotBeRead() throws {
    let path = Fixture.path("")
    var reader = try LineReader(path: path)
    let error = #expect(throws: SystemError.self) { _ = try reader.next() }
    #expect(error?.operation == .read)
    #expect(error?.code == EISDIR)
  }
}
