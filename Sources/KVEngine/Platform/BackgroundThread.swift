#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Starts threads for work that nobody waits for.
///
/// A thread of our own, because blocking calls on Swift's task pool hold up the app's tasks (four
/// blocking tasks of 100 ms take 200 ms on two cores).
package enum BackgroundThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
      self.run = run
    }
  }

  /// A number of the calling thread that no other living thread has.
  package static var currentNumber: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      unsafe UInt(bitPattern: pthread_self())
    #endif
  }

  /// Runs a closure on a new thread of low priority.
  ///
  /// - Throws: The error number of pthread_create, when there are too many threads.
  package static func start(_ run: @escaping @Sendable () -> Void) throws(SystemError) {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let body = unsafe Unmanaged.passRetained(Body(run)).toOpaque()
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = unsafe pthread_create(
        &thread, &attributes,
        { argument in
          pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
          unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
          return nil
        }, body)
    #else
      var thread = pthread_t()
      let code = unsafe pthread_create(
        &thread, &attributes,
        { argument in
          // On Linux the nice value belongs to the thread; that it may not change does no harm.
          setpriority(Int32(PRIO_PROCESS.rawValue), 0, 10)
          if let argument = unsafe argument {
            unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
          }
          return nil
        }, body)
    #endif
    if code != 0 {
      unsafe Unmanaged<Body>.fromOpaque(body).release()
      throw SystemError(.start, "background thread", code: code)
    }
  }
}
