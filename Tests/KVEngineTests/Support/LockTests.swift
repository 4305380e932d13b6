import KVTestSupport
import Testing

@testable import KVEngine

/// Mutual exclusion and waiting.
@Suite struct LockTests {
  @Test func noIncrementIsLost() {
    let counter = Lock(0)
    onThreads(8) { _ in
      for _ in 0..<2000 { counter.withLock { $0 += 1 } }
    }
    #expect(counter.withLock { $0 } == 16_000)
  }

  @Test func anErrorGivesTheLockBack() {
    let lock = Lock(1)
    #expect(throws: DatabaseError.cancelled) {
      try lock.withLock { state throws(DatabaseError) in
        state = 2
        throw .cancelled
      }
    }
    #expect(lock.withLock { $0 } == 2)
  }

  @Test func everyWaitingThreadIsWokenByABroadcast() {
    let lock = Lock((isOpen: false, waiting: 0, passed: 0))
    let condition = Condition()
    onThreads(6) { thread in
      if thread == 0 {
        while lock.withLock({ $0.waiting }) < 5 {}
        lock.withLock { $0.isOpen = true }
        condition.broadcast()
        return
      }
      lock.withLock { $0.waiting += 1 }
      lock.wait(for: condition) { state -> Void? in
        guard state.isOpen else { return nil }
        state.passed += 1
        return ()
      }
    }
    #expect(lock.withLock { $0.passed } == 5)
  }

  @Test func whatHoldsAlreadyIsNotWaitedFor() {
    let lock = Lock(7)
    #expect(lock.wait(for: Condition()) { $0 == 7 ? $0 : nil } == 7)
  }

  /// A ball goes back and forth: each side waits for the other's signal.
  @Test func signalsAreNotLost() {
    let lock = Lock(0)
    let conditions = [Condition(), Condition()]
    onThreads(2) { side in
      for round in 0..<500 {
        lock.wait(for: conditions[side]) { state -> Void? in
          guard state == 2 * round + side else { return nil }
          state += 1
          return ()
        }
        conditions[1 - side].signal()
      }
    }
    #expect(lock.withLock { $0 } == 1000)
  }
}
