import Glibc
import MemoHistory

/// Memos in the form that `kvinspect import` reads.
enum JSONLines {
  /// Writes the first memos of a corpus to a file.
  static func write(_ corpus: Corpus, _ count: Int, to path: String) throws(BenchmarkError) {
    guard let file = fopen(path, "w") else { throw BenchmarkError("cannot make \(path)") }
    defer { fclose(file) }
    for number in 0..<count {
      var line: [UInt8] = []
      let memo = corpus.memo(number)
      guard
        let time = MemoTimestamp(
          microseconds: memo.microseconds, offsetSeconds: memo.zoneSeconds)
      else { throw BenchmarkError("a time out of range") }
      line.append(contentsOf: Array("{\"id\":\"".utf8) + Record.key(of: memo.id))
      line.append(contentsOf: "\",\"createdAt\":\"\(time)\",\"body\":\"".utf8)
      appendEscaped(memo.body, to: &line)
      line.append(contentsOf: "\"}\n".utf8)
      guard fwrite(line, 1, line.count, file) == line.count else {
        throw BenchmarkError("cannot write \(path)")
      }
    }
  }

  private static func appendEscaped(_ body: UnsafeRawBufferPointer, to line: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    for byte in body {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): line.append(contentsOf: [92, byte])
      case ..<32:
        line.append(contentsOf: Array("\\u00".utf8))
        line.append(contentsOf: [digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      default: line.append(byte)
      }
    }
  }
}
