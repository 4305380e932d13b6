/// What a salvage looked at, what it kept, and what is lost.
///
/// A salvage rather returns too much than too little: see ``mayHoldDeletedKeys``.
public struct SalvageReport: Sendable, Equatable {
  /// A file of the damaged store.
  public struct File: Sendable, Equatable {
    /// The name inside the store's folder.
    public let name: String
    /// What the file was good for.
    public let use: Use
    /// Entries of the file that were read, older versions and deletions included.
    public let entryCount: Int
    /// The lowest and the highest sequence of these entries; `nil` without entries.
    ///
    /// Sequences that compaction dropped count as 0.
    public let sequences: ClosedRange<UInt64>?
    /// Why it was used in this way, in one line.
    public let reason: String

    init(
      name: String, use: Use, entryCount: Int = 0, sequences: ClosedRange<UInt64>? = nil,
      reason: String
    ) {
      self.name = name
      self.use = use
      self.entryCount = entryCount
      self.sequences = sequences
      self.reason = reason
    }
  }

  /// What a file was good for.
  public enum Use: String, Sendable {
    /// All of it counts.
    case whole
    /// It is damaged; what verifies counts.
    case part
    /// It was replaced by others; only keys that those have lost are taken from it.
    case filler
    /// It was not used.
    case none
  }

  /// A stretch of a file, or a whole file, that could not be read.
  public struct Loss: Sendable, Equatable {
    /// The name of the file.
    public let fileName: String
    /// Bytes from the file's start; `nil` when the file is missing.
    public let offsets: Range<Int>?
    /// Every lost key is greater, or equal where a MANIFEST says so; `nil` when nothing is known.
    ///
    /// The first byte is the code of the key's space.
    public let lowerKey: [UInt8]?
    /// Every lost key is smaller, or equal where a MANIFEST says so; `nil` when nothing is known.
    public let upperKey: [UInt8]?
    /// What did not hold.
    public let reason: String

    init(
      fileName: String, offsets: Range<Int>?, lowerKey: [UInt8]? = nil, upperKey: [UInt8]? = nil,
      reason: String
    ) {
      self.fileName = fileName
      self.offsets = offsets
      self.lowerKey = lowerKey
      self.upperKey = upperKey
      self.reason = reason
    }
  }

  /// All files of the damaged store, in the order in which they were judged.
  public internal(set) var files: [File] = []
  /// What could not be read; empty when nothing is missing that was needed.
  ///
  /// What a lost stretch held may still be in the result, out of files that were replaced.
  public internal(set) var losses: [Loss] = []
  /// Keys with a value in the new store.
  public internal(set) var entryCount = 0
  /// The newest sequence that anything readable shows; the new store's writes continue above it.
  public internal(set) var sequence: UInt64 = 0
  /// The file whose list of live files was followed; `nil` when none was readable, so that
  /// everything was merged by sequence.
  public internal(set) var manifestName: String?
  /// Whether keys that were deleted, or older values, may be back.
  ///
  /// They may when files that others had replaced were used, because the latest MANIFEST or
  /// something that it names was not readable: compaction drops deletions that have done their
  /// work, and the replaced files still hold what was deleted. So may keys of a large batch whose
  /// commit a crash has cut off, when files that no MANIFEST names were used.
  public internal(set) var mayHoldDeletedKeys = false
  /// Names that were given to spaces whose own names are lost, for `Database.space(_:)`.
  public internal(set) var inventedSpaceNames: [String] = []
  /// Whether another handle was writing to the damaged store meanwhile; what it wrote may be
  /// missing.
  public internal(set) var wasBeingWritten = false

  init() {}

  /// Whether nothing was lost that the store's latest state needs.
  public var isComplete: Bool { losses.isEmpty && !wasBeingWritten }
}
