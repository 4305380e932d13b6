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

  /// Stores memos in one batch, all or none; they arrive in their order.
  ///
  /// Of two versions of one id the newer stays, whether both are among `memos` or one is stored:
  /// store and counts are the same as if each memo came in a batch of its own.
  ///
  /// - Returns: What became of each.
  /// - Complexity: O(*k* log *n*) for *k* memos.
  package func importBatch(
    _ memos: [Memo], durability: Durability = .full
  ) throws(MemoError) -> ImportCounts {
    while true {
      // Held until the write is judged: the sequences it is judged by are kept for held ones only.
      let snapshot = try snapshot()
      defer { withExtendedLifetime(snapshot) {} }
      var arrivals = Arrivals()
      for memo in memos {
        if arrivals.isKnown(memo.id) {
          arrivals.add(memo)
        } else {
          arrivals.add(memo, stored: try find(memo.id, in: snapshot))
        }
      }
      let batch = arrivals.batch(since: snapshot)
      if batch.changesNothing { return arrivals.counts }
      if try commit(batch, durability) {
        note(arrivals.counts.inserted > 0 ? .inserted : .updated)
        return arrivals.counts
      }
    }
  }

  /// Memos of one batch on their way into the store.
  private struct Arrivals {
    /// What the store will have under one id.
    private struct Arrival {
      let stored: Found?
      var memo: Memo
      var isNew: Bool
    }

    private(set) var counts = ImportCounts()
    /// In the order of arrival; `nil` where a memo has moved on to a later place.
    private var arrivals: [Arrival?] = []
    private var places: [MemoID: Int] = [:]

    /// Whether a memo with the id came before.
    func isKnown(_ id: MemoID) -> Bool { places[id] != nil }

    /// Takes the first memo with its id.
    mutating func add(_ memo: Memo, stored: Found?) {
      guard let stored else {
        counts.inserted += 1
        append(Arrival(stored: nil, memo: memo, isNew: true))
        return
      }
      append(Arrival(stored: stored, memo: stored.memo, isNew: false))
      add(memo)
    }

    /// Takes a memo whose id is known.
    mutating func add(_ newMemo: Memo) {
      guard let place = places[newMemo.id], let known = arrivals[place] else { return }
      var memo = newMemo
      memo.inheritPayload(of: known.memo)
      if known.memo == memo {
        counts.unchanged += 1
      } else if !known.memo.isOlderVersion(than: memo) {
        counts.outdated += 1
      } else {
        counts.replaced += 1
        arrivals[place] = nil
        let staysInPlace =
          known.isNew && known.memo.createdAt.microseconds == memo.createdAt.microseconds
        let arrival = Arrival(stored: known.stored, memo: memo, isNew: true)
        if staysInPlace { arrivals[place] = arrival } else { append(arrival) }
      }
    }

    private mutating func append(_ arrival: Arrival) {
      places[arrival.memo.id] = arrivals.count
      arrivals.append(arrival)
    }

    /// Everything that changes the store.
    func batch(since snapshot: Snapshot) -> WriteBatch {
      var batch = WriteBatch()
      for case .some(let arrival) in arrivals where arrival.isNew {
        batch.upsert(arrival.memo, over: arrival.stored)
        batch.requireUnchanged(arrival.memo.id, arrival.stored, since: snapshot)
      }
      return batch
    }
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
