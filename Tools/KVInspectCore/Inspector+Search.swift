internal import KVEngine
internal import MemoCore
internal import TextSearch

extension Inspector {
  /// Prints the memos that a search finds, each as soon as it is found.
  func search(
    _ store: String, for request: SearchRequest, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    let query = try SearchQuery.typed(request.text, folding: request.folding)
    let timeline = try open(store)
    var search = MemoSearch(query)
    search.isInTrash = request.isInTrash
    var cursor = try search.cursor(in: try timeline.snapshot())
    var folded = FoldedText()
    var count = 0
    var isDamaged = false
    while count < request.limit ?? .max, !output.isClosed, try cursor.advance() {
      do throws(MemoError) {
        guard let found = try cursor.found() else { continue }
        count += 1
        let ranges = query.ranges(in: found.memo.body, folded: &folded, limit: 10_000)
        try show(found, ranges, of: timeline, format)
      } catch {
        guard case .damagedRecord = error else { throw error }
        errors.line("kvinspect: " + TerminalText.visible("\(error)"))
        isDamaged = true
      }
    }
    if count == 0, !isDamaged, !output.isClosed { errors.line("kvinspect: nothing is found") }
    return count == 0 || isDamaged ? .damage : .fine
  }

  private func show(
    _ found: FoundMemo, _ ranges: [Range<Int>], of timeline: MemoTimeline, _ format: OutputFormat
  ) throws(MemoError) {
    let memo = found.memo
    switch format {
    case .json:
      let names = memo.payload.isEmpty ? MemoNames() : try timeline.names()
      var members: [JSONMember] = []
      if case .object(let whole) = MemoLine.value(of: memo, names: names) { members = whole }
      if let deleted = found.deleted {
        let deletedAt = MemoTimestamp(microseconds: deleted.key.deletedAt)
        members.append(JSONMember("deletedAt", deletedAt.map { .text("\($0)") } ?? .null))
      }
      let pairs = ranges.map { range in
        JSONValue.array([.integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound))])
      }
      members.append(JSONMember("ranges", .array(pairs)))
      output.json(members)
    case .text:
      guard output.isTerminal else {
        return try show(memo, of: timeline, .text, columnCount: nil)
      }
      let time = memo.createdAt.description
      output.buffer.append(contentsOf: time.utf8)
      output.buffer.append(contentsOf: "  ".utf8)
      let limit = output.columnCount.map { max($0 - time.utf8.count - 2, 10) }
      HighlightedText.append(memo.body, ranges, limit: limit, to: &output.buffer)
      output.endLine()
      // Somebody is waiting for it.
      output.flush()
    }
  }
}

/// A text with parts of it made to stand out on a terminal.
enum HighlightedText {
  private static let start = Array("\u{1B}[1;31m".utf8)
  private static let end = Array("\u{1B}[0m".utf8)
  private static let ellipsis = "\u{2026}"

  /// Appends a text on one line, from somewhere before the first part that stands out.
  ///
  /// - Parameters:
  ///   - text: Any text; what a terminal would obey is shown as an escape.
  ///   - ranges: What stands out: offsets of UTF-8 in order, of whole scalars.
  ///   - limit: The most characters, or a few more where escapes are; `nil` appends all.
  ///   - output: Where the UTF-8 goes.
  static func append(
    _ text: String, _ ranges: [Range<Int>], limit: Int?, to output: inout [UInt8]
  ) {
    let utf8 = text.utf8
    func index(_ offset: Int) -> String.Index { utf8.index(utf8.startIndex, offsetBy: offset) }
    var place = text.startIndex
    var rest = limit ?? .max
    if let limit, let first = ranges.first {
      let match = index(first.lowerBound)
      let near = text.index(match, offsetBy: -(limit / 3), limitedBy: place) ?? place
      // As much as there is before it is shown when the match is in sight then.
      if text.index(place, offsetBy: limit / 2, limitedBy: match) != nil, near > place {
        output.append(text: ellipsis)
        (place, rest) = (near, rest - 1)
      }
    }
    for range in ranges where rest > 0 {
      append(text[place..<index(range.lowerBound)], &rest, to: &output)
      place = index(range.upperBound)
      guard rest > 0 else { break }
      output += start
      append(text[index(range.lowerBound)..<place], &rest, to: &output)
      output += end
    }
    if rest > 0 { append(text[place...], &rest, to: &output) }
  }

  private static func append(
    _ piece: Substring, _ rest: inout Int, to output: inout [UInt8]
  ) {
    let shown = TerminalText.visible(String(piece), limit: rest == .max ? nil : rest)
    output.append(text: shown)
    if rest != .max { rest -= shown.count }
  }
}
