/// A drawing in the making; colours and fonts come from the page's style by class.
struct SVG {
  private var text: String

  init(width: Double, height: Double, title: String) {
    text = """
      <svg viewBox="0 0 \(Self.number(width)) \(Self.number(height))" role="img" \
      aria-label="\(Self.escaped(title))">

      """
  }

  /// Whatever is text in XML or HTML.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }

  private static func number(_ value: Double) -> String { Format.decimal(value, digits: 1) }

  private static func tip(_ text: String) -> String {
    text.isEmpty ? "" : "<title>\(escaped(text))</title>"
  }

  mutating func line(_ x: Double, _ y: Double, _ endX: Double, _ endY: Double, _ style: String) {
    let (x, y, endX, endY) = (
      Self.number(x), Self.number(y), Self.number(endX), Self.number(endY)
    )
    text += "<line x1=\"\(x)\" y1=\"\(y)\" x2=\"\(endX)\" y2=\"\(endY)\" class=\"\(style)\"/>\n"
  }

  mutating func text(
    _ words: String, _ x: Double, _ y: Double, anchor: String, _ style: String
  ) {
    text += "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor)\" "
    text += "class=\"\(style)\">\(Self.escaped(words))</text>\n"
  }

  mutating func bar(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String, title: String
  ) {
    text += "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" "
    text +=
      "height=\"\(Self.number(height))\" rx=\"2\" class=\"\(style)\">\(Self.tip(title))</rect>\n"
  }

  mutating func dot(_ x: Double, _ y: Double, _ radius: Double, _ style: String, title: String) {
    text +=
      "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(radius))\" "
    text += "class=\"\(style)\">\(Self.tip(title))</circle>\n"
  }

  mutating func path(_ points: [(Double, Double)], _ style: String, title: String) {
    let steps = points.map { "\(Self.number($0.0)) \(Self.number($0.1))" }.joined(separator: "L")
    text += "<path d=\"M\(steps)\" class=\"\(style)\">\(Self.tip(title))</path>\n"
  }

  consuming func end() -> String { text + "</svg>\n" }
}
