/// Numbers of live keys by space, or how they change.
///
/// A list, as a store has few spaces: making the first dictionary of a kind takes a process
/// 0.1 ms, which a launch would pay.
package struct SpaceCounts: Sendable {
  private struct Entry: Sendable {
    let code: UInt8
    var count: Int
  }

  private var entries: [Entry] = []

  package init() {}

  /// The codes of the spaces that were counted, ascending.
  package var codes: [UInt8] { entries.map(\.code).sorted() }

  /// The number of a space; 0 for one that was never counted.
  package subscript(code: UInt8) -> Int {
    entries.first { $0.code == code }?.count ?? 0
  }

  /// Adds to the number of a space, which is counted from now on.
  package mutating func add(_ change: Int, toSpace code: UInt8) {
    if let index = entries.firstIndex(where: { $0.code == code }) {
      entries[index].count += change
    } else {
      entries.append(Entry(code: code, count: change))
    }
  }

  /// Adds the numbers of all spaces of another.
  package static func += (left: inout SpaceCounts, right: SpaceCounts) {
    for entry in right.entries { left.add(entry.count, toSpace: entry.code) }
  }
}
