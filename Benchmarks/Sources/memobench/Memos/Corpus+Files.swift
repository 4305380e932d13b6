import MemoHistory

extension Corpus {
  /// Real memos, a file of JSON lines beside the repository when it is there; else generated ones.
  static func standard(besides repository: String) -> Corpus {
    let path = repository + "/../shared/data/memos-en.jsonl.gz"
    if Files.exists(path), let corpus = try? reading(path) { return corpus }
    return generated(count: 100_000, seed: 1)
  }

  /// Reads packed JSON lines whose fields `createdAt` and `body` come in this order.
  static func reading(_ path: String) throws(BenchmarkError) -> Corpus {
    let lines = try ChildProcess.run("/bin/zcat", [path]).output
    var texts: [UInt8] = []
    texts.reserveCapacity(lines.count)
    var ends: [Int] = []
    var times: [Int64] = []
    var zones: [Int32] = []
    for line in lines.split(separator: 10) {
      var scanner = LineScanner(bytes: line)
      guard let date = scanner.text(of: "createdAt"), let body = scanner.text(of: "body") else {
        throw BenchmarkError("line \(ends.count + 1) of \(path) is no memo")
      }
      let time = try measured { try MemoTimestamp(iso8601: String(decoding: date, as: UTF8.self)) }
      texts.append(contentsOf: body)
      ends.append(texts.count)
      times.append(time.microseconds)
      zones.append(time.offsetSeconds)
    }
    if ends.isEmpty { throw BenchmarkError("\(path) has no memos") }
    return Corpus(
      source: "\(ends.count) real memos of memos-en.jsonl.gz", texts: texts, ends: ends,
      times: times, zones: zones)
  }
}

/// Finds the text fields of one line of JSON.
private struct LineScanner {
  let bytes: ArraySlice<UInt8>
  private var position: Int

  init(bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The value of the next field with a name, without its escapes.
  mutating func text(of name: String) -> [UInt8]? {
    let mark = Array("\"\(name)\":\"".utf8)
    while position + mark.count <= bytes.endIndex {
      if bytes[position..<position + mark.count].elementsEqual(mark) {
        position += mark.count
        return text()
      }
      position += 1
    }
    return nil
  }

  private mutating func text() -> [UInt8]? {
    var result: [UInt8] = []
    while position < bytes.endIndex {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return result
      case UInt8(ascii: "\\"): escape(into: &result)
      default: result.append(byte)
      }
    }
    return nil
  }

  private mutating func escape(into result: inout [UInt8]) {
    guard position < bytes.endIndex else { return }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "n"): result.append(10)
    case UInt8(ascii: "t"): result.append(9)
    case UInt8(ascii: "r"): result.append(13)
    case UInt8(ascii: "b"): result.append(8)
    case UInt8(ascii: "f"): result.append(12)
    case UInt8(ascii: "u"):
      let digits = bytes[position..<min(position + 4, bytes.endIndex)]
      position += digits.count
      let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
      // Half of a pair becomes the replacement character: only the size matters here.
      let scalar = code.flatMap(Unicode.Scalar.init) ?? "\u{FFFD}"
      result.append(contentsOf: String(scalar).utf8)
    default: result.append(byte)
    }
  }
}
