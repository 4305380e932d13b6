import Foundation
import KVEngine
import Testing

/// The built `kvinspect`, run as a process of its own.
enum Executable {
  /// Beside the test bundle: the package's manifest makes these tests depend on it.
  static func path() throws -> String {
    let bundles = [Bundle.main] + Bundle.allBundles
    let paths = bundles.flatMap { [$0.executableURL, $0.bundleURL] }.compactMap {
      $0?.deletingLastPathComponent().appendingPathComponent("kvinspect").path
    }
    return try #require(
      paths.first { FileManager.default.isExecutableFile(atPath: $0) },
      "kvinspect is not built: it should be at one of \(Set(paths).sorted())")
  }

  /// How a process ended and what it wrote.
  struct Result {
    let status: Int32
    let wasKilled: Bool
    let output: [UInt8]
    let errors: [UInt8]

    var outputLines: [String] { lines(of: output) }
    var errorLines: [String] { lines(of: errors) }
    var outputText: String { String(decoding: output, as: UTF8.self) }
  }

  /// Runs `kvinspect` to its end; `input` is the file that is its standard input.
  static func run(_ words: String..., input: String? = nil) throws -> Result {
    try Child(try path(), words, input: input).wait()
  }

  /// Runs a script of `sh` in which "$0" is `kvinspect` and "$1" and so on are `words`.
  static func shell(_ script: String, _ words: String...) throws -> Result {
    try Child("/bin/sh", ["-c", script, try path()] + words).wait()
  }

  /// A process that may be killed while it runs.
  final class Child {
    private let process = Process()
    private let output: Drain
    private let errors: Drain
    private let end = DispatchSemaphore(value: 0)

    init(_ path: String, _ words: [String], input: String? = nil) throws {
      let (outputPipe, errorPipe) = (Pipe(), Pipe())
      process.executableURL = URL(fileURLWithPath: path)
      process.arguments = words
      process.standardInput =
        if let input { try FileHandle(forReadingFrom: URL(fileURLWithPath: input)) } else {
          FileHandle.nullDevice
        }
      process.standardOutput = outputPipe
      process.standardError = errorPipe
      process.terminationHandler = { [end] _ in end.signal() }
      try process.run()
      output = Drain(outputPipe)
      errors = Drain(errorPipe)
    }

    /// SIGKILL, if it still runs.
    func kill() {
      if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    }

    func wait() -> Result {
      end.wait()
      return Result(
        status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
        output: output.bytes(), errors: errors.bytes())
    }
  }
}

/// Reads a pipe to its end on a thread of its own, so that the writer never waits.
private final class Drain: Sendable {
  private let read = Lock<[UInt8]>([])
  private let isDone = DispatchSemaphore(value: 0)

  init(_ pipe: Pipe) {
    let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
    Thread.detachNewThread { [self] in
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      let bytes = (try? file.readToEnd()) ?? Data()
      read.withLock { $0 = [UInt8](bytes) }
      isDone.signal()
    }
  }

  /// What came, once; waits for the end.
  func bytes() -> [UInt8] {
    isDone.wait()
    return read.withLock { $0 }
  }
}
