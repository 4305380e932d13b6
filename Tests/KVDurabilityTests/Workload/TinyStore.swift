import KVTestSupport

@testable import KVEngine

/// A store with limits so small that every border is met often.
enum TinyStore {
  static let path = "/store"

  /// Options with a clock of their own: by two reads, what a MANIFEST dropped is too old to stay.
  static var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.logByteCount = 4096
    // A killed process does nothing any more, so its handle must have no thread.
    options.worksInBackground = false
    options.blockByteCount = 64
    options.zeroStepByteCount = 512
    options.segmentByteCount = 2048
    options.policy = { $0 == 2 ? SpacePolicy(filter: .prefix(2)) : .standard(code: $0) }
    options.wallClock = { later() }
    return options
  }

  private static func later() -> Int64 {
    clock.withLock { now in
      now += 400 * 1_000_000
      return now
    }
  }

  private static let clock = Lock<Int64>(1_700_000_000_000_000)

  static func open(
    in files: any FileSystem, options: DatabaseOptions = options
  ) throws -> Database {
    try Database(at: path, in: files, options: options)
  }
}
