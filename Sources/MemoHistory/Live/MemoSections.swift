/// By what a list of memos has headers.
///
/// Neighbouring memos with the same key stand below one header; see ``HistorySections``.
public struct MemoSections<Entity: MemoEntity>: Sendable {
  private let key: @Sendable (Entity) -> HistorySectionKey
  /// `nil` for days as written, which are the same everywhere.
  private let identity: RuleIdentity?

  private init(
    _ identity: RuleIdentity?, _ key: @escaping @Sendable (Entity) -> HistorySectionKey
  ) {
    self.identity = identity
    self.key = key
  }

  /// By the day on which a memo was written, by the clock of its writer.
  ///
  /// Costs no time zone, and stays the same wherever the memos are read. Memos of a traveller may
  /// bring a day up twice.
  public static var day: MemoSections {
    MemoSections(nil) { .day(CivilDay($0.createdAt)) }
  }

  /// By the day on which a memo was written, by the clock of one place.
  ///
  /// For the days of its reader use `day(in:)` with a time zone where Foundation is at hand. When
  /// the place changes, refresh the history: its sections are made anew with every snapshot.
  ///
  /// - Parameter secondsFromUTC: How far the clock is ahead of UTC at an instant, -86,399 to 86,399
  ///   seconds; called on any thread, once for each memo of a snapshot. Must not wait for the main
  ///   actor, which may be waiting for the snapshot.
  /// - Returns: Sections whose days need not be 24 hours long.
  public static func day(
    secondsFromUTC: @escaping @Sendable (MemoTimestamp) -> Int
  ) -> MemoSections {
    MemoSections(RuleIdentity()) {
      .day(CivilDay($0.createdAt, secondsFromUTC: secondsFromUTC($0.createdAt)))
    }
  }

  /// By a text that the app makes of a memo.
  ///
  /// - Parameter label: Names the section of a memo, called as the closure of
  ///   ``day(secondsFromUTC:)``. Texts are the same when their UTF-8 is.
  /// - Returns: Sections in the order of the memos: a label may come up more than once.
  public static func label(_ label: @escaping @Sendable (Entity) -> String) -> MemoSections {
    MemoSections(RuleIdentity()) { .label(label($0)) }
  }

  /// The sections of a list.
  func sections(of items: [Entity]) -> HistorySections<HistorySectionKey> {
    HistorySections(keys: items.map(key))
  }
}

extension MemoSections: Equatable {
  /// Whether two ways to make sections are known to be the same.
  ///
  /// - Parameters:
  ///   - left: A way.
  ///   - right: Another one.
  /// - Returns: Whether both are ``day``, or copies of one value.
  public static func == (left: MemoSections, right: MemoSections) -> Bool {
    left.identity === right.identity
  }
}

/// What the memos below one header have in common.
public enum HistorySectionKey: Sendable {
  /// The day on which they were written.
  case day(CivilDay)
  /// A text of the app.
  case label(String)
}

extension HistorySectionKey: Hashable {
  /// Whether two keys are the same; labels are compared byte by byte.
  ///
  /// - Parameters:
  ///   - left: A key.
  ///   - right: Another one.
  /// - Returns: Whether neighbouring memos with these keys share a header.
  public static func == (left: HistorySectionKey, right: HistorySectionKey) -> Bool {
    switch (left, right) {
    case (.day(let left), .day(let right)): left == right
    case (.label(let left), .label(let right)): left.utf8.elementsEqual(right.utf8)
    default: false
    }
  }

  /// Feeds the key to a hasher.
  ///
  /// - Parameter hasher: The hasher of a set or dictionary.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .day(let day): hasher.combine(day)
    case .label(let label):
      for byte in label.utf8 { hasher.combine(byte) }
      hasher.combine(0xFF as UInt8)
    }
  }
}

extension HistorySectionKey: CustomStringConvertible {
  /// The label, or the day in ISO 8601 form, for example "2024-05-01".
  public var description: String {
    switch self {
    case .day(let day): day.description
    case .label(let label): label
    }
  }
}

/// A header of a ``LiveHistory`` with the memos below it.
public struct HistorySection<Entity: MemoEntity>: Sendable, Hashable, Identifiable {
  /// Names the section in the lists of one history.
  public let id: HistorySections<HistorySectionKey>.Header.ID
  /// The memos, newest first; never empty.
  public let items: ArraySlice<Entity>

  /// What the memos have in common, to be shown in the header.
  public var key: HistorySectionKey { id.key }
}
