package import KVEngine

// The table of names is read when a payload is first met, never on the way of a plain memo to the
// screen, and kept in memory. Other handles add to it; who meets a number or wants a name that is
// not there reads again.

extension MemoTimeline {
  /// The names of fields, read at the first call.
  ///
  /// - Complexity: O(1) after the first call, then O(number of names).
  package func names() throws(MemoError) -> MemoNames {
    if let names = state.withLock({ $0.names }) { return names }
    return try reloadedNames()
  }

  /// Whether anybody has needed the names.
  package var hasReadNames: Bool { state.withLock { $0.names != nil } }

  /// The names of fields as they are in the store now.
  ///
  /// - Complexity: O(number of names).
  package func reloadedNames() throws(MemoError) -> MemoNames {
    var loaded = MemoNames()
    try briefly { snapshot throws(MemoError) in
      loaded = try Self.names(in: snapshot) { _ in }
    }
    return adopt(loaded)
  }

  /// Keeps a table of the store, unless a later one is known.
  @discardableResult
  func adopt(_ names: MemoNames) -> MemoNames {
    state.withLock { state in
      // Names are only added, so the table with more of them is the later one.
      guard let before = state.names, before.storedCount > names.storedCount else {
        state.names = names
        return names
      }
      return before
    }
  }

  /// Keeps a table whose additions a commit has just stored.
  func adoptAdded(_ names: MemoNames) {
    var names = names
    names.becomeStored()
    adopt(names)
  }

  /// The names at one moment; what is damaged is reported, and its number has no name.
  static func names(
    in snapshot: Snapshot, _ report: (FormatError) -> Void
  ) throws(MemoError) -> MemoNames {
    var names = MemoNames()
    do {
      var cursor = try snapshot.cursor(space: MemoSpace.meta)
      while try cursor.moveForward() {
        do throws(FormatError) {
          try names.add(key: cursor.key, value: cursor.value)
        } catch {
          report(error)
        }
      }
    } catch {
      throw .database(error)
    }
    names.becomeStored()
    return names
  }

  /// Gives numbers to names that come from elsewhere, as with memos of another store.
  ///
  /// - Returns: The number of each name, in their order.
  /// - Throws: ``MemoError/unencodable(reason:)`` when there are too many names.
  package func numbers(
    of wanted: [String], durability: Durability = .full
  ) throws(MemoError) -> [Int] {
    while true {
      var names = try names()
      var numbers: [Int] = []
      for name in wanted {
        guard let number = names.number(adding: name) else {
          throw .unencodable(reason: MemoNames.refusal)
        }
        numbers.append(number)
      }
      var batch = WriteBatch()
      batch.add(names)
      if batch.changesNothing { return numbers }
      if try commit(batch, durability) {
        adoptAdded(names)
        return numbers
      }
      _ = try reloadedNames()
    }
  }
}

extension MemoNames {
  /// Why a name got no number; reads on after "a memo cannot be stored:".
  package static let refusal = "the name of a field is too long, or there are too many of them"
}

/// The names of fields for one operation: read when they are needed, and again at most once.
package struct NameSource: ~Copyable {
  private let timeline: MemoTimeline
  /// Whether others have added to the names that are known.
  private let isOutdated: Bool
  private var isReloaded = false
  /// What was read, with the names that the operation adds; `nil` as long as nobody asked.
  private(set) var names: MemoNames?

  /// Makes a source that has read nothing.
  package init(_ timeline: MemoTimeline) {
    self.init(timeline, isOutdated: false)
  }

  init(_ timeline: MemoTimeline, isOutdated: Bool) {
    self.timeline = timeline
    self.isOutdated = isOutdated
  }

  /// The names for a payload whose largest number is known.
  ///
  /// A number that has no name in the store either is not given to another one.
  package mutating func names(upTo number: Int = -1) throws(MemoError) -> MemoNames {
    var table: MemoNames
    if let names {
      table = names
    } else {
      table = isOutdated ? try timeline.reloadedNames() : try timeline.names()
      isReloaded = isOutdated
    }
    if table.count <= number, !isReloaded {
      table = try timeline.reloadedNames()
      isReloaded = true
    }
    table.reserve(number)
    names = table
    return table
  }

  /// Takes names that were added to those that were read.
  package mutating func add(_ names: MemoNames) {
    self.names = names
  }
}

extension WriteBatch {
  /// Adds names that the store does not have, if nobody else has given away their numbers.
  mutating func add(_ names: MemoNames) {
    for (key, value) in names.added {
      require(absent: key, in: MemoSpace.meta)
      put(value, forKey: key, in: MemoSpace.meta)
    }
  }
}
