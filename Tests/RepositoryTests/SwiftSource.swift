/// One Swift file: its lines, its tokens, and what it declares.
struct SwiftSource: Sendable {
  /// A type that the file declares.
  struct Declaration: Sendable {
    /// "struct", "class", "enum", "protocol", "actor", "typealias", or "func" at file level.
    let kind: String
    /// With the types around it, for example "Cursor.Entry".
    let name: String
    let modifiers: Set<String>
    /// The names behind the colon.
    let inheritance: [String]
    let line: Int
    /// Whether no type and no extension is around it.
    let isAtFileLevel: Bool

    var lastName: String { String(name.split(separator: ".").last ?? "") }
    var isPublic: Bool { modifiers.contains("public") || modifiers.contains("open") }
    var isFileLocal: Bool { !modifiers.isDisjoint(with: ["private", "fileprivate"]) }
  }

  /// A function, initialiser, subscript or computed property with its body.
  struct Body: Sendable {
    let line: Int
    let lineCount: Int
  }

  let path: String
  let lines: [String]
  let tokens: [SwiftToken]
  let declarations: [Declaration]
  let bodies: [Body]

  init(path: String, text: String) {
    self.path = path
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    tokens = SwiftTokenizer.tokens(of: text)
    var reader = DeclarationReader(tokens)
    reader.read()
    declarations = reader.declarations
    bodies = reader.bodies
  }

  /// Lines of the file; the end of the last line begins no other.
  var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

  /// The names of the modules that are imported.
  var imports: Set<String> {
    var names: Set<String> = []
    for (index, token) in tokens.enumerated() where token.text == "import" {
      guard index + 1 < tokens.count, index == 0 || tokens[index - 1].text != "." else { continue }
      names.insert(tokens[index + 1].text)
    }
    return names
  }

  /// Capitalised names that stand alone, not behind a dot: they can only be types or modules.
  var namedTypes: [SwiftToken] {
    namedWords.filter { $0.text.utf8.first.map { $0 >= 0x41 && $0 <= 0x5A } ?? false }
  }

  /// All words that do not stand behind a dot.
  var namedWords: [SwiftToken] {
    tokens.indices.filter { index in
      tokens[index].isWord && (index == 0 || tokens[index - 1].text != ".")
    }.map { tokens[$0] }
  }

  /// Lines on which these tokens follow each other, for example "canImport" and "(".
  func lines(of texts: String...) -> [Int] {
    tokens.indices.filter { index in
      index + texts.count <= tokens.count
        && zip(tokens[index...], texts).allSatisfy { $0.text == $1 }
    }.map { tokens[$0].line }
  }

  /// Lines on which an exclamation mark directly follows a keyword; "try !x" is a negation.
  func linesForcing(_ keyword: String) -> [Int] {
    zip(tokens, tokens.dropFirst()).filter { word, mark in
      word.text == keyword && mark.text == "!" && mark.isJoined
    }.map(\.0.line)
  }

  /// The comment right above a line, attributes in between left out.
  func comment(above line: Int) -> String {
    var found: [String] = []
    for text in lines[..<(line - 1)].reversed() {
      let trimmed = text.drop { $0 == " " }
      if trimmed.hasPrefix("//") {
        found.insert(String(trimmed), at: 0)
      } else if !trimmed.hasPrefix("@") {
        break
      }
    }
    return found.joined(separator: "\n")
  }
}
