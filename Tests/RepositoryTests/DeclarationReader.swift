/// Finds declarations of types and the bodies of functions in the tokens of a Swift file.
///
/// Follows braces only; a brace belongs to the declaration before it.
struct DeclarationReader {
  private enum Scope {
    /// The inside of a type or extension, with its full name.
    case type(String)
    /// The inside of a function or of anything else.
    case body(line: Int, isFunction: Bool)
  }

  private static let typeKeywords: Set = ["struct", "class", "enum", "protocol", "actor"]
  private static let bodyKeywords: Set = ["func", "init", "deinit", "subscript", "var", "let"]

  private let tokens: [SwiftToken]
  private var scopes: [Scope] = []
  private var parentheses = 0
  /// The type whose brace comes next.
  private var pendingType: String?
  /// Where the function began whose brace comes next.
  private var pendingLine: Int?
  private(set) var declarations: [SwiftSource.Declaration] = []
  private(set) var bodies: [SwiftSource.Body] = []

  init(_ tokens: [SwiftToken]) {
    self.tokens = tokens
  }

  /// Whether declarations here are members of types or stand at file level.
  private var isOutsideBodies: Bool {
    if case .body = scopes.last { return false }
    return true
  }

  private var typeName: String? {
    if case .type(let name) = scopes.last { return name }
    return nil
  }

  mutating func read() {
    for index in tokens.indices {
      switch tokens[index].text {
      case "(", "[": parentheses += 1
      case ")", "]": parentheses -= 1
      case "{": open(at: index)
      case "}": close(at: index)
      case let text where parentheses == 0: readWord(text, at: index)
      default: break
      }
    }
  }

  private mutating func open(at index: Int) {
    if parentheses > 0 || !isOutsideBodies {
      scopes.append(.body(line: tokens[index].line, isFunction: false))
    } else if let name = pendingType {
      scopes.append(.type(name))
    } else {
      let line = pendingLine ?? tokens[index].line
      scopes.append(.body(line: line, isFunction: true))
    }
    pendingType = nil
    pendingLine = nil
  }

  private mutating func close(at index: Int) {
    guard case .body(let line, isFunction: true) = scopes.popLast() else { return }
    bodies.append(SwiftSource.Body(line: line, lineCount: tokens[index].line - line + 1))
  }

  private mutating func readWord(_ text: String, at index: Int) {
    guard index + 1 < tokens.count, index == 0 || tokens[index - 1].text != "." else { return }
    let next = tokens[index + 1]
    if Self.bodyKeywords.contains(text), isOutsideBodies {
      pendingLine = tokens[index].line
      if text == "func", scopes.isEmpty, next.isWord { declare("func", at: index) }
    }
    guard next.isWord, next.text != "func", next.text != "var", next.text != "let" else { return }
    if Self.typeKeywords.contains(text) {
      declare(text, at: index)
      if isOutsideBodies { pendingType = qualified(next.text) }
    } else if text == "typealias" {
      declare(text, at: index)
    } else if text == "extension" {
      pendingType = dottedName(from: index + 1)
    }
  }

  private func qualified(_ name: String) -> String {
    typeName.map { $0 + "." + name } ?? name
  }

  private func dottedName(from index: Int) -> String {
    var name = tokens[index].text
    var place = index + 1
    while place + 1 < tokens.count, tokens[place].text == ".", tokens[place + 1].isWord {
      name += "." + tokens[place + 1].text
      place += 2
    }
    return name
  }

  private mutating func declare(_ kind: String, at index: Int) {
    declarations.append(
      SwiftSource.Declaration(
        kind: kind, name: qualified(tokens[index + 1].text), modifiers: modifiers(before: index),
        inheritance: inheritance(from: index + 2), line: tokens[index].line,
        isAtFileLevel: scopes.isEmpty))
  }

  /// The words in front of a keyword on its line.
  private func modifiers(before index: Int) -> Set<String> {
    var found: Set<String> = []
    var place = index - 1
    while place >= 0, tokens[place].line == tokens[index].line, tokens[place].isWord {
      found.insert(tokens[place].text)
      place -= 1
    }
    return found
  }

  private func inheritance(from index: Int) -> [String] {
    let head = tokens[index...].prefix { $0.text != "{" && $0.text != "=" }
    guard let colon = head.firstIndex(where: { $0.text == ":" }) else { return [] }
    return head[colon...].filter(\.isWord).map(\.text)
  }
}
