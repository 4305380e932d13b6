package import KVEngine

// Import takes memos that may be in the store already: the same file twice changes nothing, in any
// order and in any pieces. So which of two versions of one id stays must not depend on the order in
// which they come: the later createdAt, then the later changedAt, then the body whose bytes are
// greater, then the payload. No version wins only because it came last. A memo without a payload,
// as other programs write them, keeps the one that is there.

/// What became of the memos of an import.
package struct ImportCounts: Sendable, Equatable {
  /// Memos whose id was not there.
  package var inserted = 0
  /// Memos that took the place of an older version.
  package var replaced = 0
  /// Memos that were there already, the same in every field.
  package var unchanged = 0
  /// Memos of which a newer version is there.
  package var outdated = 0

  package init() {}

  package var total: Int { inserted + replaced + unchanged + outdated }

  package static func += (left: inout ImportCounts, right: ImportCounts) {
    left.inserted += right.inserted
    left.replaced += right.replaced
    left.unchanged += right.unchanged
    left.outdated += right.outdated
  }
}

extension MemoTimeline {
  /// Whether a memo is small enough for a store.
  ///
  /// - Complexity: O(1) for all but the very largest.
  package static func canStore(_ memo: Memo) -> Bool {
    let byteCount = memo.id.encodedByteCount + memo.body.utf8.count + memo.payload.count
    // Times and counts take less than 64 bytes; only close to the limit does it matter how many.
    if byteCount + 64 <= Limits.Value.maximumByteCount { return true }
    return byteCount <= Limits.Value.maximumByteCount
      && MemoRecord.encode(memo).count <= Limits.Value.maximumByteCount
  }

  /// Stores memos in one batch, all or none; they arrive in their order: see
  /// ``MemoEdits/take(_:)``.
  ///
  /// - Returns: What became of each.
  /// - Complexity: O(*k* log *n*) for *k* memos.
  package func importBatch(
    _ memos: [Memo], origin: String? = nil, durability: Durability = .full
  ) throws(MemoError) -> ImportCounts {
    try write(origin: origin, durability: durability) { edits throws(MemoError) in
      var counts = ImportCounts()
      for memo in memos { counts += try edits.take(memo) }
      return counts
    }
  }
}

extension MemoEdits {
  /// Takes a memo that comes from elsewhere, unless it is there already or a newer version of it
  /// is.
  ///
  /// Of two versions of one id the newer stays, whether both come in one commit or one is stored:
  /// store and counts are the same as if each memo came in a commit of its own.
  ///
  /// - Returns: What became of it.
  package func take(_ newMemo: Memo) throws(MemoError) -> ImportCounts {
    var counts = ImportCounts()
    guard let known = try memo(for: newMemo.id) else {
      try put(newMemo)
      counts.inserted = 1
      return counts
    }
    var memo = newMemo
    memo.inheritPayload(of: known)
    if known == memo {
      counts.unchanged = 1
    } else if known.isOlderVersion(than: memo) {
      try put(memo)
      counts.replaced = 1
    } else {
      counts.outdated = 1
    }
    return counts
  }
}

extension Memo {
  /// Whether another version of this memo is the one that stays.
  fileprivate func isOlderVersion(than other: Memo) -> Bool {
    if createdAt != other.createdAt { return createdAt < other.createdAt }
    switch (changedAt, other.changedAt) {
    case (nil, .some): return true
    case (.some, nil): return false
    case (.some(let mine), .some(let theirs)) where mine != theirs: return mine < theirs
    default: break
    }
    return body.hasSameBytes(as: other.body)
      ? payload.lexicographicallyPrecedes(other.payload)
      : body.utf8.lexicographicallyPrecedes(other.body.utf8)
  }
}
