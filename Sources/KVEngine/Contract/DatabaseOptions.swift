/// How a database is opened.
public struct DatabaseOptions: Sendable {
  /// Whether a missing store opens as empty; the first write then creates it.
  ///
  /// Default: true.
  public var createIfMissing = true
  /// Whether this handle refuses every write and takes no lock.
  ///
  /// Default: false.
  public var isReadOnly = false
  /// What opening does when the newest state is damaged.
  ///
  /// Default: ``DamagePolicy/report``.
  public var onDamage = DamagePolicy.report
  /// Bytes of the write-ahead log, and of the memtable beside it, after which the memtable becomes
  /// a segment.
  ///
  /// Default: 256 KiB; range: 4 KiB to 128 MiB, other values are clamped. A larger bound makes
  /// loads faster and the next open slower: open reads the whole log.
  public var logByteCount = Limits.Log.defaultByteCount
  /// Bytes of the cache of decoded blocks.
  ///
  /// Default: 4 MiB; 0 switches it off.
  public var cacheByteCount = 4 << 20
  /// Segments that are kept open at a time.
  ///
  /// Default: 20; at least 1. What cursors and snapshots are reading comes on top.
  public var descriptorCount = 20

  /// Called with everything worth a line in the host's log.
  ///
  /// Default: none. ``DatabaseEvent`` says on which thread, and what a handler may do.
  public var eventHandler: (@Sendable (DatabaseEvent) -> Void)?

  /// Bytes of a segment that compaction does not pass; tests make it small.
  package var segmentByteCount = Limits.Segment.defaultByteCount
  /// Whether reads remember stretches of deleted keys; switched off in tests that compare.
  package var notesGaps = true
  /// Whether compaction, idle release and lazy syncs happen by themselves on a thread of the
  /// store's own, which begins with the first write; tests that choose the moments say no.
  package var worksInBackground = true
  /// Decoded bytes of a data block; tests make it small so that borders are frequent.
  package var blockByteCount = Limits.Block.defaultByteCount
  /// Bytes of zeros written ahead in the log; tests make it small.
  package var zeroStepByteCount = Limits.Log.zeroStepByteCount
  /// Microseconds since 1970; tests inject a clock, `nil` is the system's.
  package var wallClock: (@Sendable () -> Int64)?
  /// What flush and compaction have to know of a space, by its code.
  ///
  /// A function: a dictionary costs a launch the look-up of its conformances, 0.1 ms.
  package var policy: @Sendable (UInt8) -> SpacePolicy = { .standard(code: $0) }

  /// The defaults.
  public init() {}
}
