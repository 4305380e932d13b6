// FORMAT.md section 4. Every name in a store is made and parsed here, so that what one function
// writes the other finds (test: round trip of every kind).

/// A name in a store's folder.
package enum FileName: Hashable, Sendable {
  case lock
  case manifest
  /// A MANIFEST that was replaced, by its generation.
  case oldManifest(UInt64)
  case log(UInt64)
  case segment(UInt64)
  case reserve
  /// A file that is being written and has no meaning until it is renamed.
  indirect case temporary(FileName)

  package var text: String {
    switch self {
    case .lock: "LOCK"
    case .manifest: "MANIFEST"
    case .oldManifest(let generation): "MANIFEST-" + Self.digits(generation)
    case .log(let number): Self.digits(number) + ".log"
    case .segment(let number): Self.digits(number) + ".seg"
    case .reserve: "RESERVE"
    case .temporary(let name): name.text + ".tmp"
    }
  }

  /// The folder inside a store that takes what an earlier state did not name, by the generation
  /// that this state went on as.
  ///
  /// Not the name of a file: nothing here looks into it again.
  package static func setAsideFolder(_ generation: UInt64) -> String {
    "set-aside-" + digits(generation)
  }

  /// The meaning of a name, `nil` for one that is not ours.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let name = Self.parse(bytes[0...]), Array(name.text.utf8) == bytes else { return nil }
    self = name
  }

  private static func parse(_ bytes: ArraySlice<UInt8>) -> FileName? {
    if let stem = stem(of: bytes, ending: ".tmp") {
      guard let inner = parse(stem) else { return nil }
      if case .temporary = inner { return nil }
      return .temporary(inner)
    }
    if bytes.elementsEqual("LOCK".utf8) { return .lock }
    if bytes.elementsEqual("MANIFEST".utf8) { return .manifest }
    if bytes.elementsEqual("RESERVE".utf8) { return .reserve }
    if bytes.starts(with: "MANIFEST-".utf8) {
      return number(bytes.dropFirst("MANIFEST-".utf8.count)).map { .oldManifest($0) }
    }
    if let stem = stem(of: bytes, ending: ".log") { return number(stem).map { .log($0) } }
    if let stem = stem(of: bytes, ending: ".seg") { return number(stem).map { .segment($0) } }
    return nil
  }

  private static func stem(of bytes: ArraySlice<UInt8>, ending: String) -> ArraySlice<UInt8>? {
    bytes.suffix(ending.utf8.count).elementsEqual(ending.utf8)
      ? bytes.dropLast(ending.utf8.count) : nil
  }

  /// At least six digits, so that names sort; more when a number needs them.
  private static func digits(_ number: UInt64) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, 6 - text.utf8.count)) + text
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64? {
    guard bytes.count >= 6, bytes.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return UInt64(String(decoding: bytes, as: UTF8.self))
  }
}
