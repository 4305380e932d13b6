/// A word or sign of Swift code, with the line it is on, counted from 1.
struct SwiftToken: Equatable {
  let text: String
  let line: Int
  /// Whether nothing is between this token and the one before.
  let isJoined: Bool

  /// Whether it is a name, a keyword or a number.
  var isWord: Bool {
    text.utf8.first.map(SwiftTokenizer.isWordByte) ?? false
  }
}

/// Cuts Swift code into tokens; what comments and literals say is left out, what is interpolated
/// into strings is code.
///
/// Knows no grammar: enough for rules about names, and small enough to trust.
struct SwiftTokenizer {
  private let bytes: [UInt8]
  private var offset = 0
  private var line = 1
  private var endOfToken = 0
  private var tokens: [SwiftToken] = []

  static func tokens(of text: String) -> [SwiftToken] {
    var tokenizer = SwiftTokenizer(bytes: Array(text.utf8))
    tokenizer.readCode(until: nil)
    return tokenizer.tokens
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private func begins(with text: String) -> Bool {
    bytes[offset...].starts(with: text.utf8)
  }

  private mutating func advance(_ count: Int = 1) {
    for byte in bytes[offset..<min(offset + count, bytes.count)] where byte == 0x0A { line += 1 }
    offset = min(offset + count, bytes.count)
  }

  /// Reads to the end, or over the bracket that closes an interpolation.
  private mutating func readCode(until end: UInt8?) {
    var depth = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      if begins(with: "//") {
        while offset < bytes.count, bytes[offset] != 0x0A { advance() }
      } else if begins(with: "/*") {
        skipBlockComment()
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#") {
        readStringOrSign()
      } else if Self.isWordByte(byte) {
        readWord()
      } else {
        if byte == UInt8(ascii: "(") { depth += 1 }
        if byte == UInt8(ascii: ")") {
          if depth == 0, byte == end {
            advance()
            return
          }
          depth -= 1
        }
        readSign()
      }
    }
  }

  private mutating func readWord() {
    let start = offset
    while offset < bytes.count, Self.isWordByte(bytes[offset]) { offset += 1 }
    append(start..<offset)
  }

  private mutating func readSign() {
    if bytes[offset] > 0x20 { append(offset..<(offset + 1)) }
    advance()
  }

  private mutating func append(_ range: Range<Int>) {
    let text = String(decoding: bytes[range], as: UTF8.self)
    tokens.append(SwiftToken(text: text, line: line, isJoined: range.lowerBound == endOfToken))
    endOfToken = range.upperBound
  }

  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if begins(with: "/*") {
        depth += 1
        advance(2)
      } else if begins(with: "*/") {
        depth -= 1
        advance(2)
      } else {
        advance()
      }
    } while depth > 0 && offset < bytes.count
  }

  /// A string with the number signs in front of it; a sign alone is part of a directive or macro.
  private mutating func readStringOrSign() {
    let signs = bytes[offset...].prefix { $0 == UInt8(ascii: "#") }.count
    guard offset + signs < bytes.count, bytes[offset + signs] == UInt8(ascii: "\"") else {
      return readSign()
    }
    advance(signs)
    let quote = begins(with: "\"\"\"") ? "\"\"\"" : "\""
    advance(quote.utf8.count)
    let fence = String(repeating: "#", count: signs)
    while offset < bytes.count {
      if begins(with: quote + fence) {
        advance(quote.utf8.count + signs)
        return
      }
      if begins(with: "\\" + fence + "(") {
        advance(2 + signs)
        readCode(until: UInt8(ascii: ")"))
      } else if begins(with: "\\" + fence) {
        advance(2 + signs)
      } else {
        advance()
      }
    }
  }
}
