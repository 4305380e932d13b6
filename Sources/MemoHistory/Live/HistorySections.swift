/// A place in a list with headers.
public struct HistoryPath: Sendable, Hashable {
  /// The index of the section.
  public let section: Int
  /// The index of the row in its section.
  public let row: Int
}

/// The headers of a list of a history and what stands below each.
///
/// Neighbouring items with the same key make a section, so there is no empty one, and the rows of
/// all sections in their order are the list. Days as the writer saw them need not descend: memos of
/// a traveller may bring a day up again, which then is a section of its own.
public struct HistorySections<Key: Hashable & Sendable>: Sendable, Hashable {
  /// One header.
  public struct Header: Sendable, Hashable, Identifiable {
    /// What names a section in the different lists of one history.
    public struct ID: Sendable, Hashable {
      /// What its items have in common.
      public let key: Key
      /// How many sections with the same key follow; 0 where keys do not come up again.
      public let repetition: Int
    }

    /// What names the section.
    public let id: ID
    /// Its items by their indexes in the list; never empty.
    public let items: Range<Int>

    /// What its items have in common.
    public var key: Key { id.key }
    /// How many sections with the same key follow; 0 where keys do not come up again.
    public var repetition: Int { id.repetition }
    /// How many items are shown below it, at least 1.
    public var count: Int { items.count }
  }

  /// The headers in the order of the list.
  public let headers: [Header]

  /// Finds the sections of a list.
  ///
  /// - Parameter keys: One key an item, in the order of the list.
  /// - Complexity: O(*n*) comparisons of keys, where *n* is the number of items.
  public init(keys: [Key]) {
    var starts: [Int] = []
    for index in keys.indices where index == 0 || keys[index] != keys[index - 1] {
      starts.append(index)
    }
    var headers: [Header] = []
    var repetitions: [Key: Int] = [:]
    var end = keys.count
    // From the old end, because a history grows at the other one.
    for start in starts.reversed() {
      let repetition = repetitions[keys[start], default: 0]
      repetitions[keys[start]] = repetition + 1
      let id = Header.ID(key: keys[start], repetition: repetition)
      headers.append(Header(id: id, items: start..<end))
      end = start
    }
    self.headers = headers.reversed()
  }

  /// The place of an item.
  ///
  /// - Parameter index: Its index in the list.
  /// - Returns: Section and row; `nil` when there is no such item.
  /// - Complexity: O(log *s*), where *s* is the number of sections.
  public func path(of index: Int) -> HistoryPath? {
    var low = 0
    var high = headers.count
    while low < high {
      let middle = (low + high) / 2
      if headers[middle].items.upperBound <= index { low = middle + 1 } else { high = middle }
    }
    guard low < headers.count, headers[low].items.contains(index) else { return nil }
    return HistoryPath(section: low, row: index - headers[low].items.lowerBound)
  }

  /// How many items the list has.
  var itemCount: Int { headers.last?.items.upperBound ?? 0 }

  /// For each section the one of a later list that it becomes; `nil` for those that go.
  ///
  /// Those that stay keep their order: a section never moves, because UIKit does not say what
  /// becomes of changes to its rows.
  func successors(in new: HistorySections) -> [Int?] {
    let sources = ListAlignment.sources(from: headers.map(\.id), to: new.headers.map(\.id))
    let moves = ListAlignment(sources: sources, oldCount: headers.count).moves
    var successors = [Int?](repeating: nil, count: headers.count)
    for (index, source) in sources.enumerated() where source != ListAlignment.absent {
      successors[source] = index
    }
    for move in moves { successors[move.source] = nil }
    return successors
  }
}
