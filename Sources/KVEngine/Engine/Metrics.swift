/// What a handle counts, and the events that wait to be delivered.
package final class Metrics: Sendable {
  private let statistics = Lock(DatabaseStatistics())
  private struct Events {
    var noted: [DatabaseEvent] = []
    /// Whether a thread is handing events out; it takes those of others as well.
    var isDelivering = false
  }

  private let events = Lock(Events())
  private let handler: (@Sendable (DatabaseEvent) -> Void)?

  package init(handler: (@Sendable (DatabaseEvent) -> Void)?) {
    self.handler = handler
  }

  package var current: DatabaseStatistics { statistics.withLock { $0 } }

  package func count(_ change: (inout DatabaseStatistics) -> Void) {
    statistics.withLock { change(&$0) }
  }

  /// Notes an event; it is delivered by the next ``deliver()``.
  package func note(_ event: DatabaseEvent) {
    if handler != nil { events.withLock { $0.noted.append(event) } }
  }

  /// Hands the noted events out, one at a time and in order.
  ///
  /// Called where no turn and no lock is held. A thread that finds another one at it, or itself
  /// since it is called by a handler, leaves its events to that one: nobody waits for a handler.
  package func deliver() {
    guard let handler else { return }
    var mayBegin = true
    while let event = next(mayBegin: mayBegin) {
      mayBegin = false
      handler(event)
    }
  }

  /// The event to be handed out next; `nil` ends the delivering.
  private func next(mayBegin: Bool) -> DatabaseEvent? {
    events.withLock { events in
      if mayBegin, events.isDelivering { return nil }
      events.isDelivering = !events.noted.isEmpty
      return events.noted.isEmpty ? nil : events.noted.removeFirst()
    }
  }
}
