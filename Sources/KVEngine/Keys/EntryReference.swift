/// Where the entry at a position of a sorted source lies in memory.
///
/// A merge compares and hands out entries of sources of different kinds; asking the source each
/// time costs as much as the rest of a step. So a source says once, after each move, where its
/// entry is. Key and value stay there until the source moves again: they are in its memtable, log
/// image, or block and key buffer, which only its own moves replace. Whoever hands them out binds
/// them to the life of the source.
@safe
struct EntryReference {
  private let keyBytes: UnsafeRawBufferPointer
  private let valueBytes: UnsafeRawBufferPointer
  let tag: EntryTag

  /// An entry without bytes, for a source that is nowhere.
  static var none: EntryReference {
    EntryReference(key: RawSpan(), value: RawSpan(), tag: EntryTag(sequence: 0, kind: .tombstone))
  }

  init(key: RawSpan, value: RawSpan, tag: EntryTag) {
    unsafe keyBytes = key.withUnsafeBytes { unsafe $0 }
    unsafe valueBytes = value.withUnsafeBytes { unsafe $0 }
    self.tag = tag
  }

  /// The key with its space byte.
  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(RawSpan(_unsafeBytes: keyBytes), borrowing: self) }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(RawSpan(_unsafeBytes: valueBytes), borrowing: self) }
  }
}
