package import KVEngine

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Where a command's bytes go: gathered, and written in few calls.
///
/// A reader that goes away (`kvinspect scan STORE | head`) ends the output in silence: `isClosed`
/// is set and what follows is dropped, so that loops can stop. Any other failure is kept and
/// reported by ``finish()``.
package final class Output {
  /// What was written and not handed on yet.
  package var buffer: [UInt8] = []
  private let descriptor: Int32
  private let name: String
  private(set) var isClosed = false
  private var failure: SystemError?
  private static let chunkByteCount = 64 << 10

  package init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  /// Whether somebody looks at a terminal.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Columns of the terminal, `nil` when there is none.
  package var columnCount: Int? {
    guard isTerminal else { return nil }
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }

  /// Adds a line of text.
  package func line(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    endLine()
  }

  /// Ends a line, handing on what has gathered when it is much.
  package func endLine() {
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.chunkByteCount { flush() }
  }

  /// Adds one JSON value on a line of its own.
  package func json(_ members: [JSONMember]) {
    JSONWriter.append(.object(members), to: &buffer)
    endLine()
  }

  /// Hands on what has gathered.
  package func flush() {
    defer { buffer.removeAll(keepingCapacity: true) }
    var written = 0
    while written < buffer.count, !isClosed, failure == nil {
      let count = unsafe buffer.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        return unsafe write(descriptor, rest.baseAddress, rest.count)
      }
      if count >= 0 {
        written += count
      } else if errno == EPIPE {
        isClosed = true
      } else if errno == EAGAIN {
        waitUntilReady(descriptor, for: POLLOUT)
      } else if errno != EINTR {
        failure = SystemError(.write, name, code: errno)
      }
    }
  }

  /// Hands on the rest.
  ///
  /// - Throws: The first failure, unless the reader just went away.
  package func finish() throws(SystemError) {
    flush()
    if let failure { throw failure }
  }
}

/// Waits for a descriptor that somebody has switched to calls that do not wait.
///
/// The switch belongs to the pipe or terminal, not to the process: whoever shares it may have set
/// it.
func waitUntilReady(_ descriptor: Int32, for event: some BinaryInteger) {
  var wanted = pollfd(fd: descriptor, events: Int16(event), revents: 0)
  // Whatever it returns, the next read or write says what there is to say.
  _ = unsafe poll(&wanted, 1, -1)
}

/// Makes writing to a pipe without reader an error instead of the end of the process.
package func ignoreClosedPipes() {
  _ = signal(SIGPIPE, SIG_IGN)
}

/// Makes sure that the descriptors 0 to 2 are taken.
///
/// A caller may have closed some of them (`kvinspect ... 2>&-`). The next file to be opened would
/// get the number, and a message would be written into the store. Input and output are taken in the
/// wrong direction, so that using them is still an error; messages to nobody go nowhere.
package func occupyStandardDescriptors() {
  let directions = [O_WRONLY, O_RDONLY, O_WRONLY]
  for (descriptor, direction) in directions.enumerated()
  where fcntl(Int32(descriptor), F_GETFD) == -1 {
    // The lowest free number: those below are taken.
    _ = unsafe open("/dev/null", direction)
  }
}
