// The project's one lock type. It is a pthread mutex, not `Synchronization.Mutex`: the latter is
// invisible to the thread sanitizer, which then reports races that do not exist, and the standard
// library has no condition variable. The price is 2 ns for an uncontended lock.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#else
  #error("MemoKV needs the C library of Linux or an Apple system")
#endif

/// A value that only one thread at a time can reach.
///
/// `@unchecked Sendable`: `state` is touched inside `withLock` only.
@safe
package final class Lock<State: ~Copyable>: @unchecked Sendable {
  fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>
  // The mutex does what the dynamic check would: without it, a lock costs a third.
  @exclusivity(unchecked) fileprivate var state: State

  /// Makes a lock around a first value.
  package init(_ state: consuming State) {
    unsafe mutex = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe self.state = state
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Runs `body` while no other thread is inside this lock.
  ///
  /// Not recursive.
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state)
  }

  /// Waits until `body` returns a value, calling it again after each signal of `condition`.
  package func wait<Result>(
    for condition: Condition, until body: (inout State) -> Result?
  ) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = unsafe body(&state) { return result }
      unsafe pthread_cond_wait(condition.variable, mutex)
    }
  }
}

extension Lock {
  /// Waits like ``wait(for:until:)``, but for one signal only and only for so many nanoseconds,
  /// which the state says.
  ///
  /// - Returns: `nil` when `body` still returned no value after that.
  package func wait<Result>(
    for condition: Condition, atMost nanoseconds: (borrowing State) -> UInt64,
    until body: (inout State) -> Result?
  ) -> Result? {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    if let result = unsafe body(&state) { return result }
    var deadline = timespec()
    // pthread's conditions measure by the wall clock; a jump only makes one wait longer or shorter.
    unsafe clock_gettime(CLOCK_REALTIME, &deadline)
    let total = UInt64(deadline.tv_nsec) + (unsafe nanoseconds(state))
    deadline.tv_sec += Int(total / 1_000_000_000)
    deadline.tv_nsec = Int(total % 1_000_000_000)
    _ = unsafe pthread_cond_timedwait(condition.variable, mutex, &deadline)
    return unsafe body(&state)
  }
}

/// What a thread waits for while it gives up a ``Lock``.
///
/// `@unchecked Sendable`: the variable is only ever handed to pthread calls, which synchronise.
@safe
package final class Condition: @unchecked Sendable {
  fileprivate let variable: UnsafeMutablePointer<pthread_cond_t>

  /// Makes a condition nobody waits for.
  package init() {
    unsafe variable = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe variable.initialize(to: pthread_cond_t())
    unsafe pthread_cond_init(variable, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(variable)
    unsafe variable.deallocate()
  }

  /// Wakes one waiting thread.
  package func signal() {
    unsafe pthread_cond_signal(variable)
  }

  /// Wakes every waiting thread.
  package func broadcast() {
    unsafe pthread_cond_broadcast(variable)
  }
}
