public import KVEngine

/// How the memos of an app are open.
@nonexhaustive
public enum MemoStoreCondition: Sendable, Equatable {
  /// With everything that was stored.
  case open
  /// At an earlier state than the newest one, which is damaged or not complete, as in a backup that
  /// was made while memos were written. The report says what is missing.
  case openEarlierState(EarlierState)
}

extension MemoStore {
  /// How the store is open, for a note on the screen.
  ///
  /// Writing is possible in each condition; it goes on from the state that is open, and what that
  /// does not hold is kept in a folder `set-aside-` inside the store.
  public var condition: MemoStoreCondition {
    timeline.earlierState.map { .openEarlierState($0) } ?? .open
  }
}
