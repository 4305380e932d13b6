/// What waits for a manual clock, and its time.
struct ManualSchedule: Sendable {
  typealias Body = @Sendable (_ finished: @escaping @Sendable () -> Void) -> Void
  typealias Sleeper = CheckedContinuation<Void, any Error>

  /// What happens when its time has come.
  enum Action: Sendable {
    case timer(Body)
    case sleeper(Sleeper)
  }

  private struct Entry: Sendable {
    let key: UInt64
    let due: Duration
    let action: Action
  }

  var now = Duration.zero
  /// Whether somebody moves the time, and who wants to after that.
  var isMoving = false
  var waiting: [CheckedContinuation<Void, Never>] = []
  /// In the order of being set.
  private var entries: [Entry] = []
  private var lastKey: UInt64 = 0

  /// The next instant at which something happens, not before now.
  var next: Duration? {
    entries.map(\.due).min().map { max($0, now) }
  }

  /// A name for something that will wait.
  mutating func makeKey() -> UInt64 {
    lastKey += 1
    return lastKey
  }

  /// Sets when something happens.
  ///
  /// - Returns: What was to happen under this key, to be let go of outside of the lock: it may own
  ///   what comes back here when it goes.
  mutating func set(_ key: UInt64, due: Duration, _ action: Action) -> Action? {
    let old = remove(key)
    entries.append(Entry(key: key, due: due, action: action))
    return old
  }

  /// Takes back what was to happen; returns it as ``set(_:due:_:)`` does.
  mutating func remove(_ key: UInt64) -> Action? {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
    return entries.remove(at: index).action
  }

  /// Moves the time to the next instant and takes what is due then, of several what was set first.
  ///
  /// When nothing is due up to `target`, the time moves there.
  mutating func takeNext(until target: Duration) -> Action? {
    // `min` returns the first of equal ones.
    guard let entry = entries.min(by: { $0.due < $1.due }), entry.due <= target else {
      now = max(now, target)
      return nil
    }
    now = max(now, entry.due)
    return remove(entry.key)
  }
}
