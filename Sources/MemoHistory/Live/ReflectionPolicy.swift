/// How soon a live history shows what was written.
///
/// Memos that come fast, as from an import or a keyboard, should not make a list flicker, and a
/// memo that was just changed by hand should be seen at once. So the history waits a little after
/// each commit; a commit that comes meanwhile starts the wait anew, by its own kind; and
/// ``maximumDelay`` ends every wait. The first list is never subject to it.
public struct ReflectionPolicy: Sendable, Hashable {
  /// The wait after a commit that inserts a memo.
  ///
  /// Default: 200 ms. From zero on; a negative value counts as zero. A longer one shows bursts in
  /// fewer steps.
  public var afterInsert: Duration
  /// The wait after any other commit that touches a memo, and after another search was set.
  ///
  /// Default: 16 ms, about one frame. From zero on; a negative value counts as zero.
  public var afterOther: Duration
  /// The most that may pass between a change and the list that shows it.
  ///
  /// Default: 300 ms. From zero on; a negative value counts as zero. Without commits for so long it
  /// has no effect; a longer one lets a burst postpone the list for longer.
  public var maximumDelay: Duration

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - afterInsert: The wait after a commit that inserts a memo.
  ///   - afterOther: The wait after any other commit.
  ///   - maximumDelay: The most that may pass between a change and the list that shows it.
  public init(
    afterInsert: Duration = .milliseconds(200), afterOther: Duration = .milliseconds(16),
    maximumDelay: Duration = .milliseconds(300)
  ) {
    self.afterInsert = afterInsert
    self.afterOther = afterOther
    self.maximumDelay = maximumDelay
  }
}
