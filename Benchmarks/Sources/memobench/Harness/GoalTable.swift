import Glibc

extension Report {
  /// The rows that have a goal as a table in Markdown, for the README.
  var goalTable: String {
    var lines = head.map { "- " + $0 } + ["- date: \(Self.today)", ""]
    lines.append("| work | MemoKV | best peer | times the peer | goal | |")
    lines.append("|---|---|---|---|---|---|")
    for row in rows {
      guard let ours = row.cell(row.subject) else { continue }
      let peer = row.bestPeer
      for goal in row.goals {
        guard let bound = row.bound(of: goal) else { continue }
        let cells = [
          row.name, Format.number(ours.headline, row.unit),
          peer.map { "\($0.engine) \(Format.number($0.headline, row.unit))" } ?? "",
          peer.map { Format.decimal(ours.headline / $0.headline, digits: 2) } ?? "",
          Format.number(bound, row.unit),
          ours.headline <= bound
            ? "reached" : "missed: \(Format.decimal(ours.headline / bound, digits: 1)) of it",
        ]
        lines.append("| " + cells.joined(separator: " | ") + " |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static var today: String {
    var seconds = time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let fields = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
    return fields.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: "-")
  }
}
