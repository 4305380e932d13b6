/// Where the entry at a position of a sorted source lies in memory.
///
/// A merge compares and hands out entries of sources of different kinds; asking the source each
/// time costs as much as the rest of a step. So a source says once, after each move, where its
/// entry is. Key and value stay there until the source moves again: they are in its memtable, log
/// image, or block and key buffer, which only its own moves replace. Whoever hands them out binds
/// them to the life of the source.
@safe
struct EntryReference {
  // Four words, since every layer of a read copies it at each step.
  private let keyStart: UnsafeRawPointer?
  private let valueStart: UnsafeRawPointer?
  private let keyByteCount: UInt32
  private let valueByteCount: UInt32
  let tag: EntryTag

  /// An entry without bytes, for a source that is nowhere.
  static var none: EntryReference {
    EntryReference(key: RawSpan(), value: RawSpan(), tag: EntryTag(sequence: 0, kind: .tombstone))
  }

  /// Refers to a key and a value of at most 4 GiB, as those of every source are.
  init(key: RawSpan, value: RawSpan, tag: EntryTag) {
    unsafe keyStart = key.withUnsafeBytes { $0.baseAddress }
    unsafe valueStart = value.withUnsafeBytes { $0.baseAddress }
    keyByteCount = UInt32(key.byteCount)
    valueByteCount = UInt32(value.byteCount)
    self.tag = tag
  }

  /// The key with its space byte.
  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span(keyStart, keyByteCount) }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span(valueStart, valueByteCount) }
  }

  @_lifetime(borrow self)
  private func span(_ start: UnsafeRawPointer?, _ byteCount: UInt32) -> RawSpan {
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(byteCount))
    return unsafe _overrideLifetime(RawSpan(_unsafeBytes: bytes), borrowing: self)
  }
}
