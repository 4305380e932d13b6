/// When a commit counts as done.
public enum Durability: Sendable, Hashable {
  /// The commit returns when its bytes are on the medium (fdatasync on Linux, F_FULLFSYNC on Apple
  /// systems). Nothing acknowledged is lost, neither by a killed process nor by a power cut.
  case full
  /// The commit returns when the operating system has its bytes. A killed process loses nothing; a
  /// power cut may take what was committed within that time, always a suffix. The next full
  /// commit, a new log, `suspend()` and `close()` make lazy commits durable earlier; those of a
  /// killed process the first write of the next one.
  case lazyWithin(Duration)

  /// Lazy within one second.
  public static let lazy = Durability.lazyWithin(.seconds(1))
}
