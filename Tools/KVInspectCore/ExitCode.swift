/// How a command ended, as its process reports it.
///
/// Fixed: scripts depend on it.
package enum ExitCode: Int32, Sendable {
  /// Everything went well.
  case fine = 0
  /// Something stored is damaged, a line was refused, or nothing has the id that was asked for.
  case damage = 1
  /// The command line makes no sense.
  case usage = 2
  /// The disk, the system or the lock of another writer was in the way, there is no store, or it is
  /// one of a newer program.
  case system = 3
}
