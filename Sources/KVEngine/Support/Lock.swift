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
/// A struct of two pointers, not a class: a generic class is made known to the runtime once per
/// value type, and a launch, which meets sixteen of them, would spend a tenth of its time on that.
/// ``SharedLock`` is for what several objects share.
///
/// `@unchecked Sendable`: `state` is touched inside `withLock` only.
@safe
package struct Lock<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>
  fileprivate let state: UnsafeMutablePointer<State>

  /// Makes a lock around a first value.
  package init(_ state: consuming State) {
    unsafe mutex = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe self.state = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe self.state.initialize(to: state)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Runs `body` while no other thread is inside this lock.
  ///
  /// Not recursive.
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }

  /// Waits until `body` returns a value, calling it again after each signal of `condition`.
  package func wait<Result>(
    for condition: Condition, until body: (inout State) -> Result?
  ) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = unsafe body(&state.pointee) { return result }
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
    if let result = unsafe body(&state.pointee) { return result }
    var deadline = timespec()
    // pthread's conditions measure by the wall clock; a jump only makes one wait longer or shorter.
    unsafe clock_gettime(CLOCK_REALTIME, &deadline)
    let total = UInt64(deadline.tv_nsec) + (unsafe nanoseconds(state.pointee))
    deadline.tv_sec += Int(total / 1_000_000_000)
    deadline.tv_nsec = Int(total % 1_000_000_000)
    _ = unsafe pthread_cond_timedwait(condition.variable, mutex, &deadline)
    return unsafe body(&state.pointee)
  }
}

/// A ``Lock`` that several objects share.
package final class SharedLock<State: ~Copyable>: Sendable {
  private let lock: Lock<State>

  /// Makes a lock around a first value.
  package init(_ state: consuming State) {
    lock = Lock(state)
  }

  /// Runs `body` as ``Lock/withLock(_:)`` does.
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lock.withLock(body)
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
