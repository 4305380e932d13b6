#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// SIGXFSZ, which ends a process that writes past its file-size limit.
enum FileSizeSignal {
  /// Makes such writes return EFBIG instead (rule F27), unless the app has its own handler.
  ///
  /// Done once, before the first file is opened for writing. The setting belongs to the process;
  /// blocking the signal around each write would leave it alone, at two more calls per write.
  static func ignore() {
    _ = isIgnored
  }

  private static let isIgnored: Void = {
    var current = sigaction()
    guard unsafe sigaction(SIGXFSZ, nil, &current) == 0 else { return }
    #if canImport(Glibc)
      let handler = unsafe current.__sigaction_handler.sa_handler
    #elseif canImport(Musl)
      let handler = unsafe current.__sa_handler.sa_handler
    #elseif canImport(Darwin)
      let handler = unsafe current.__sigaction_u.__sa_handler
    #endif
    // SIG_DFL is the null pointer in each of these libraries.
    if handler == nil { signal(SIGXFSZ, SIG_IGN) }
  }()
}
