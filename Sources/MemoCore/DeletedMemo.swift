package import KVEngine

// FORMAT.md section 10.6: a deleted memo is a copy in the trash space, written by the batch that
// deletes it, and everything that is needed to put it back exactly where it was.

/// The key of a deleted memo in the trash space: latest deletion first.
package struct TrashKey: Hashable, Sendable {
  /// The wall clock at the deletion, in microseconds since 1970.
  package let deletedAt: Int64
  /// The arrival of the memo, which no other has.
  package let arrival: UInt64

  package init(deletedAt: Int64, arrival: UInt64) {
    self.deletedAt = deletedAt
    self.arrival = arrival
  }

  package func encode() -> [UInt8] {
    MemoKey(microseconds: deletedAt, arrival: arrival).encode()
  }

  package static func decode(_ bytes: RawSpan) throws(FormatError) -> TrashKey {
    let key = try MemoKey.decode(bytes)
    return TrashKey(deletedAt: key.microseconds, arrival: key.arrival)
  }
}

/// A memo that was deleted and can be brought back.
package struct DeletedMemo: Sendable, Hashable {
  /// The version of the record.
  package static let version: UInt64 = 0

  package let key: TrashKey
  /// The memo as it was.
  package let memo: Memo
  /// For how long the deletion can be undone, in microseconds.
  package let undoMicroseconds: UInt64
  /// For how long the memo stays in the trash, in microseconds; not less.
  package let trashMicroseconds: UInt64

  package init(key: TrashKey, memo: Memo, undoMicroseconds: UInt64, trashMicroseconds: UInt64) {
    self.key = key
    self.memo = memo
    self.undoMicroseconds = undoMicroseconds
    self.trashMicroseconds = max(undoMicroseconds, trashMicroseconds)
  }

  /// Where the memo was, and will be again.
  package var memoKey: MemoKey {
    MemoKey(microseconds: memo.createdAt.microseconds, arrival: key.arrival)
  }

  /// The stored form: everything but what stands in the key.
  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: Self.version)
    bytes.append(varint: undoMicroseconds)
    bytes.append(varint: trashMicroseconds - undoMicroseconds)
    bytes.append(zigzag: memo.createdAt.microseconds)
    MemoRecord.append(memo, to: &bytes)
    return bytes
  }

  /// Reads a deleted memo.
  ///
  /// - Throws: `FormatError` when the bytes are not exactly one, or one of a later version.
  package static func decode(
    _ value: RawSpan, key: TrashKey
  ) throws(FormatError) -> DeletedMemo {
    var reader = ByteReader(value, structure: "deleted memo")
    let found = try reader.varint()
    guard found == version else {
      throw reader.failure("has version \(found); a newer program can read it")
    }
    let undo = try reader.varint()
    let (trash, overflow) = undo.addingReportingOverflow(try reader.varint())
    guard !overflow else { throw reader.failure("its time in the trash is out of range") }
    let memoKey = MemoKey(microseconds: try reader.zigzag(), arrival: key.arrival)
    guard MemoTimestamp.supportedMicroseconds.contains(memoKey.microseconds) else {
      throw reader.failure("createdAt is out of range")
    }
    let memo = try MemoRecord.decode(try reader.take(reader.remaining), key: memoKey)
    return DeletedMemo(
      key: key, memo: memo, undoMicroseconds: undo, trashMicroseconds: trash)
  }

  /// Whether a period that began with the deletion is over.
  ///
  /// By the wall clock alone a clock that jumps would end it early, and by the time that the store
  /// has been open alone a kill would make it longer for ever: so both have to say so, but of the
  /// open time no more than an hour is asked for.
  ///
  /// - Parameters:
  ///   - microseconds: How long the period is.
  ///   - now: The wall clock, in microseconds since 1970.
  ///   - open: How long this process has had the store open without a pause, in microseconds.
  /// - Returns: Whether both clocks say so.
  func hasEnded(_ microseconds: UInt64, now: Int64, openFor open: UInt64) -> Bool {
    let (passed, overflow) = now.subtractingReportingOverflow(key.deletedAt)
    guard !overflow, passed >= 0 else { return false }
    return UInt64(passed) >= microseconds && open >= min(microseconds, 3_600_000_000)
  }
}
