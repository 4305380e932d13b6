// Every bound of the engine, once, with its unit and its reason. FORMAT.md section 12 is the same
// list and says which of them files depend on; a test compares the two.

/// The bounds that files and callers have to respect.
package enum Limits {
  package enum Key {
    /// Bytes of a key as the caller sees it; the space byte in front is not counted.
    package static let maximumByteCount = 65_535
  }

  package enum Value {
    /// Bytes of a value: large enough for any text, small enough that one entry fits in memory.
    package static let maximumByteCount = 64 << 20
  }

  package enum Batch {
    /// Bytes of one batch as it goes to the log: one value of the largest size and some keys.
    package static let maximumByteCount = 96 << 20
    /// Operations of one batch: bounds the arrival range that a damaged record could claim.
    package static let maximumOperationCount = 1 << 24
  }

  package enum Sequence {
    /// Sequences have 56 bits, so that sequence and kind fit in one word.
    package static let maximum: UInt64 = (1 << 56) - 1
  }

  package enum Log {
    /// Default bound of a log and of the memtable beside it, in bytes.
    package static let defaultByteCount = 256 << 10
    /// Zeros are written ahead in steps of this many bytes.
    package static let zeroStepByteCount = 64 << 10
    /// The largest log that is read: the largest option plus one batch, with room for framing.
    package static let maximumByteCount = 256 << 20
    /// A log of more bytes gets no record before it was flushed.
    ///
    /// One more batch of the largest size with its framing and zeros might pass the maximum.
    /// Reached only while flushes fail.
    package static let fullByteCount = maximumByteCount - Batch.maximumByteCount - (1 << 20)
    /// Bytes of batches that one group commit puts into a record.
    package static let groupByteCount = 1 << 20
  }

  package enum Block {
    /// Decoded bytes after which a data block is closed.
    package static let defaultByteCount = 4096
    /// Decoded bytes of a block: the largest entry has a block of its own; an index block of the
    /// largest segment stays far below.
    package static let maximumByteCount = Value.maximumByteCount + Key.maximumByteCount + 1024
    /// Entries between two restart points.
    package static let restartInterval = 16
    /// Bytes of the first read of a segment's head or tail; later reads of a scan double.
    package static let firstReadByteCount = 16 << 10
    /// Bytes of one read of neighbouring blocks.
    package static let readAheadByteCount = 64 << 10
    /// Bytes of memory that is kept for the next block whatever its size.
    package static let reusedByteCount = 256 << 10
    /// Bytes of the dictionary of a dense segment.
    package static let dictionaryByteCount = 32 << 10
    /// Decoded bytes of a block that refers to a dictionary: LZ4 reaches no further back.
    package static let dictionaryBlockByteCount = 64 << 10
    /// Bytes that a segment's writer collects before it writes them.
    package static let writeByteCount = 128 << 10
  }

  package enum Segment {
    /// Bytes at which compaction begins another segment.
    package static let defaultByteCount = 32 << 20
    /// Bytes of a segment file: what one flush of the largest log can become.
    package static let maximumByteCount = 512 << 20
  }

  package enum Manifest {
    /// Bytes of a MANIFEST, both copies together.
    package static let maximumByteCount = 16 << 20
    /// Live segments that a MANIFEST may name.
    package static let maximumSegmentCount = 65_536
    /// Live logs that a MANIFEST may name.
    package static let maximumLogCount = 1024
    /// Bytes of a key bound kept in the MANIFEST; longer bounds are widened to this length.
    package static let boundByteCount = 64
    /// File numbers, generations and publish times stay below it, so that counting on from a number
    /// of a file never overflows.
    ///
    /// Nothing that counts publishes comes near.
    package static let numberBound: UInt64 = 1 << 62
    /// How long a file that a MANIFEST dropped stays for copies that are being made, in seconds.
    package static let graceSeconds = 600
  }

  package enum Space {
    /// Code of the first user space, the one named "".
    package static let firstUserCode: UInt8 = 64
    /// Codes of user spaces.
    ///
    /// 255 is none of them: no key stands behind its longest keys, so their bounds in the MANIFEST
    /// could not be widened.
    package static let userCodes = firstUserCode...254
    /// Bytes of the name of a user space.
    package static let nameMaximumByteCount = 255
  }
}
