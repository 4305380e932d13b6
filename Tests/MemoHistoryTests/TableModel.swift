import MemoHistory

/// Rows and sections of a table view, and the rules by which UIKit accepts a batch of updates.
///
/// The rules are those of Apple's documentation of `performBatchUpdates(_:completion:)`: removals,
/// reloads and the sources of moves are meant by the table before the batch, insertions and the
/// targets of moves by the table after it. Where UIKit's behaviour is not written down (rows of
/// sections that come or go), the model refuses, so that nothing depends on it. Beyond UIKit, which
/// only counts, the model compares every row.
struct TableModel {
  /// A place in the table; a table without headers has one section.
  struct Path: Hashable {
    var section: Int
    var row: Int
  }

  /// What one batch asks for.
  struct Batch {
    var removedSections: [Int] = []
    var insertedSections: [Int] = []
    var removals: [Path] = []
    var insertions: [Path] = []
    var moves: [(source: Path, target: Path)] = []
    var reloads: [Path] = []
  }

  /// What makes UIKit raise an exception.
  enum Refusal: Error, Hashable {
    /// An index that the table before or after the batch does not have.
    case outOfRange
    /// The same row is removed, moved or reloaded twice, or inserted or moved to twice.
    case mentionedTwice
    /// A row of a section that is removed or inserted as a whole.
    case inChangedSection
    /// Rows or sections after the batch are not those before plus what came minus what went.
    case wrongCount
    /// Something else stands in a row than the batch said; UIKit would show it wrongly.
    case wrongRow
  }

  /// Sections by name, each with its rows.
  struct Section: Hashable {
    var name: Int
    var rows: [Int]
  }

  private(set) var sections: [Section]

  init(_ sections: [Section]) {
    self.sections = sections
  }

  /// A table without headers.
  init(rows: [Int]) {
    self.init([Section(name: 0, rows: rows)])
  }

  /// Updates the table to what its data source says now.
  mutating func perform(_ batch: Batch, dataSource new: [Section]) throws(Refusal) {
    let oldSections = try Self.distinct(batch.removedSections, below: sections.count)
    let newSections = try Self.distinct(batch.insertedSections, below: new.count)
    guard sections.count - oldSections.count + newSections.count == new.count else {
      throw .wrongCount
    }
    let leaving = batch.removals + batch.moves.map(\.source)
    let arriving = batch.insertions + batch.moves.map(\.target)
    let mentioned = try Self.distinct(leaving + batch.reloads, in: sections, except: oldSections)
    let filled = try Self.distinct(arriving, in: new, except: newSections)
    let left = mentioned.subtracting(batch.reloads)

    let staying = sections.indices.filter { !oldSections.contains($0) }
    let stayed = new.indices.filter { !newSections.contains($0) }
    var result = new.map { Section(name: $0.name, rows: []) }
    for section in newSections { result[section].rows = new[section].rows }
    for (before, after) in zip(staying, stayed) {
      guard sections[before].name == new[after].name else { throw .wrongRow }
      var rest = sections[before].rows.indices
        .filter { !left.contains(Path(section: before, row: $0)) }
        .map { sections[before].rows[$0] }[...]
      let moved = batch.moves.filter { $0.target.section == after }
      for row in new[after].rows.indices {
        let path = Path(section: after, row: row)
        if let move = moved.first(where: { $0.target == path }) {
          result[after].rows.append(sections[move.source.section].rows[move.source.row])
        } else if filled.contains(path) {
          result[after].rows.append(new[after].rows[row])
        } else if let next = rest.popFirst() {
          result[after].rows.append(next)
        } else {
          throw .wrongCount
        }
      }
      guard rest.isEmpty else { throw .wrongCount }
    }
    guard result == new else { throw .wrongRow }
    sections = result
  }

  private static func distinct(_ indexes: [Int], below count: Int) throws(Refusal) -> Set<Int> {
    let set = Set(indexes)
    guard set.count == indexes.count else { throw .mentionedTwice }
    guard set.allSatisfy({ $0 >= 0 && $0 < count }) else { throw .outOfRange }
    return set
  }

  private static func distinct(
    _ paths: [Path], in sections: [Section], except changed: Set<Int>
  ) throws(Refusal) -> Set<Path> {
    let set = Set(paths)
    guard set.count == paths.count else { throw .mentionedTwice }
    for path in set {
      guard sections.indices.contains(path.section),
        sections[path.section].rows.indices.contains(path.row)
      else { throw .outOfRange }
      guard !changed.contains(path.section) else { throw .inChangedSection }
    }
    return set
  }
}

extension TableModel {
  /// Updates a table without headers by a difference, to the rows that a data source has now.
  mutating func perform<ID>(_ difference: HistoryDifference<ID>, rows: [Int]) throws(Refusal) {
    var batch = Batch()
    batch.removals = difference.removals.map { Path(section: 0, row: $0) }
    batch.insertions = difference.insertions.map { Path(section: 0, row: $0) }
    batch.moves = difference.moves.map { move in
      (Path(section: 0, row: move.source), Path(section: 0, row: move.target))
    }
    try perform(batch, dataSource: [Section(name: 0, rows: rows)])
  }
}
