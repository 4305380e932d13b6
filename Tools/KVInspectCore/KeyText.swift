internal import KVEngine
internal import MemoCore

/// Keys as people and programs read them.
enum KeyText {
  /// Characters of a key in a listing.
  private static let limit = 40

  /// Bytes as "0x" and pairs of digits: what JSON says and `find` takes.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var text = Array("0x".utf8)
    for byte in bytes { append(byte, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends a byte as two digits.
  static func append(_ byte: UInt8, to text: inout [UInt8]) {
    for digit in [byte >> 4, byte & 15] {
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
    }
  }

  /// The bytes that a word of the command line means: hexadecimal behind "0x", else its UTF-8.
  ///
  /// - Returns: `nil` when "0x" is not followed by pairs of digits.
  static func bytes(of word: String) -> [UInt8]? {
    guard word.utf8.starts(with: "0x".utf8) else { return Array(word.utf8) }
    let bytes = [UInt8](hexadecimal: word.utf8.dropFirst(2))
    return bytes?.isEmpty == true ? nil : bytes
  }

  /// A key with its space byte in few characters: times for memos, text where it is text.
  static func short(_ key: [UInt8]) -> String {
    let rest = Array(key.dropFirst())
    switch key.first {
    case MemoSpace.memos.code, MemoSpace.trash.code:
      if let key = try? MemoKey.decode(rest.rawBytes) { return time(key) }
    case MemoSpace.ids.code:
      if let key = try? IDKey.decode(rest.rawBytes) {
        return hexadecimal(IDKey.prefix(hash: key.hash)) + " " + time(key.memoKey)
      }
    default: break
    }
    let text = String(decoding: rest, as: UTF8.self)
    if text.utf8.elementsEqual(rest), !text.unicodeScalars.contains(where: \.isControlling) {
      return TerminalText.visible(text, limit: limit)
    }
    return TerminalText.visible(hexadecimal(rest), limit: limit)
  }

  private static func time(_ key: MemoKey) -> String {
    MemoTimestamp(microseconds: key.microseconds).map { "\($0)" } ?? "\(key.microseconds)"
  }
}

/// What the spaces of a store are called.
struct SpaceNames {
  private let spaces: [NamedSpace]
  /// Spaces that no app has named.
  private static let known: [(code: UInt8, name: String)] = [
    (MemoSpace.memos.code, "memos"), (MemoSpace.ids.code, "ids"),
    (MemoSpace.uniqueKeys.code, "uniqueKeys"), (MemoSpace.trash.code, "trash"),
    (MemoSpace.meta.code, "meta"), (MemoSpace.orderedKeys.code, "orderedKeys"),
    (MemoSpace.collections.code, "collections"),
    (Space.standard.code, "default"),
  ]

  init(_ manifest: Manifest) {
    spaces = manifest.spaces
  }

  /// The name for programs, and the one that ``code(of:)`` takes.
  func name(of code: UInt8) -> String {
    if let space = spaces.first(where: { $0.code == code }) {
      return String(decoding: space.name, as: UTF8.self)
    }
    return Self.known.first { $0.code == code }?.name ?? String(code)
  }

  /// The name for people; one that an app has chosen is quoted.
  func label(of code: UInt8) -> String {
    let name = name(of: code)
    guard spaces.contains(where: { $0.code == code }) else { return name }
    return "'" + TerminalText.visible(name, limit: 30) + "'"
  }

  /// The space that a word means: a name that the app has chosen, one of ours, or a code.
  func code(of word: String) -> UInt8? {
    let bytes = Array(word.utf8)
    if let space = spaces.first(where: { $0.name == bytes }) { return space.code }
    if let space = Self.known.first(where: { Array($0.name.utf8) == bytes }) { return space.code }
    guard let code = UInt8(word), code > 0 else { return nil }
    return code
  }
}

extension Array<UInt8> {
  /// Bytes out of pairs of hexadecimal digits, upper or lower case.
  init?(hexadecimal text: some Sequence<UInt8>) {
    let digits = text.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    self = []
    for position in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[position], let low = digits[position + 1] else { return nil }
      append(UInt8(high << 4 | low))
    }
  }
}

extension Corruption {
  /// The damage for programs: the same four members wherever it is reported.
  var members: [JSONMember] {
    [
      JSONMember("file", .text(fileName)), JSONMember("offset", .whole(offset)),
      JSONMember("structure", .text(structure)), JSONMember("reason", .text(reason)),
    ]
  }

  /// The damage for people.
  var line: String { "damaged: " + TerminalText.visible(description) }
}

extension JSONMember {
  init(damage: [Corruption]) {
    self.init("damage", .array(damage.map { .object($0.members) }))
  }
}

extension JSONValue {
  /// A number of whatever width.
  static func whole(_ number: some BinaryInteger) -> JSONValue {
    .integer(Int64(clamping: number))
  }
}
