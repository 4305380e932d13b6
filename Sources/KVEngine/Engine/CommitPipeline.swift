// Group commit. The calling thread leads when nobody does: it takes what waits in the queue,
// commits it as one record with one sync, and hands the results out. Only followers wait, so a
// single writer never changes threads (a hand-over costs 14 us, a sync 100).
//
//   idle --commit--> led: [take group] -> commit -> [hand out] -> maintain -> [queue empty?]
//    ^                                                                         | yes    | no
//    +-------------------------------------------------------------------------+        |
//                                          the first waiter becomes the leader <--------+
//
// Source: LevelDB's writer queue; ours hands out results before the flush that may follow, so that
// followers do not wait for it.

/// The one place where writes happen, one at a time, in the order they came.
package final class CommitPipeline: Sendable {
  /// What a waiting thread is told.
  private enum Turn {
    case done(CommitResult)
    case lead
  }

  private struct Waiting {
    let ticket: UInt64
    /// `nil` for a caller that wants the writer for itself.
    let request: CommitRequest?
    let condition: Condition
  }

  private struct State {
    /// Taken out by the leader, so that nobody else can reach it.
    var writer: Writer?
    var queue: [Waiting] = []
    var turns: [UInt64: Turn] = [:]
    var isLed = false
    var nextTicket: UInt64 = 0
  }

  private let state: Lock<State>
  /// Called by a leader that has given its turn up, with the moment at which the writer has
  /// something to do by itself.
  private let didLead: @Sendable (UInt64?) -> Void

  package init(_ writer: Writer, didLead: @escaping @Sendable (UInt64?) -> Void) {
    state = Lock(State(writer: writer))
    self.didLead = didLead
  }

  /// Commits a batch.
  ///
  /// - Returns: The sequence of its last operation.
  package func commit(_ request: CommitRequest) throws(DatabaseError) -> SequenceNumber {
    switch enter(request) {
    case .done(let result): return try result.get()
    case .lead: break
    }
    var writer = try lead()
    let group = takeGroup(upTo: Limits.Log.groupByteCount)
    let results = writer.commit(group.compactMap(\.request))
    handOut(results, to: group)
    writer.maintain()
    leave(writer)
    guard let own = results.first else { throw .closed }
    return try own.get()
  }

  /// Runs something that needs the writer for itself, in turn with the commits.
  package func exclusively<Result>(
    _ body: (inout Writer) throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    // Without a request there is no result to wait for: the turn is always to lead.
    _ = enter(nil)
    var writer = try lead()
    _ = takeGroup(upTo: 0)
    defer { leave(writer) }
    return try body(&writer)
  }

  /// Waits for a turn: to lead, or to hear what became of the request.
  private func enter(_ request: CommitRequest?) -> Turn {
    let waiting = state.withLock { state -> Waiting? in
      let waiting = Waiting(
        ticket: state.nextTicket, request: request, condition: Condition())
      state.nextTicket += 1
      state.queue.append(waiting)
      if state.isLed { return waiting }
      state.isLed = true
      return nil
    }
    guard let waiting else { return .lead }
    return state.wait(for: waiting.condition) { state in
      state.turns.removeValue(forKey: waiting.ticket)
    }
  }

  /// The writer for the one whose turn it is.
  ///
  /// - Throws: ``DatabaseError/closed`` after ``abandon()``; the turn goes on to the next one.
  private func lead() throws(DatabaseError) -> Writer {
    if let writer = take() { return writer }
    _ = takeGroup(upTo: 0)
    leave(nil)
    throw .closed
  }

  /// Lets go of the writer, with lock and table entry, without writing anything.
  package func abandon() {
    _ = take()
  }

  private func take() -> Writer? {
    state.withLock { $0.writer.take() }
  }

  /// The leader's own request and as many behind it as fit into one record.
  private func takeGroup(upTo byteLimit: Int) -> [Waiting] {
    state.withLock { state in
      var byteCount = 0
      var count = 0
      for waiting in state.queue {
        guard let request = waiting.request else {
          // Somebody who wants the writer alone leads a group of one.
          if count == 0 { count = 1 }
          break
        }
        byteCount += request.batch.bytes.count
        if count > 0, byteCount > byteLimit { break }
        count += 1
      }
      defer { state.queue.removeFirst(count) }
      return Array(state.queue.prefix(count))
    }
  }

  /// Tells the followers; the first of the group is the leader itself.
  private func handOut(_ results: [CommitResult], to group: [Waiting]) {
    if group.count < 2 { return }
    state.withLock { state in
      for (waiting, result) in zip(group, results).dropFirst() {
        state.turns[waiting.ticket] = .done(result)
      }
    }
    for waiting in group.dropFirst() { waiting.condition.signal() }
  }

  /// Puts the writer back and lets the first waiter lead.
  private func leave(_ writer: Writer?) {
    let deadline = writer?.deadline
    let next = state.withLock { state -> Waiting? in
      state.writer = writer
      guard let next = state.queue.first else {
        state.isLed = false
        return nil
      }
      state.turns[next.ticket] = .lead
      return next
    }
    next?.condition.signal()
    didLead(deadline)
  }
}
