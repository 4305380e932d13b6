import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// Outputs that go away, fail, do not wait, or are a terminal.
@Suite(.serialized) struct OutputTests {
  init() { ignoreClosedPipes() }

  private func output(_ descriptor: Int32) -> Output {
    Output(descriptor: descriptor, name: "test output")
  }

  /// The reading end of a new pipe and an output into it.
  private func pipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(Foundation.pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  @Test func aReaderThatWentAwayIsNoError() throws {
    let (reader, writer) = try pipe()
    close(reader)
    defer { close(writer) }
    let output = output(writer)
    output.line("nobody reads this")
    #expect(!output.isClosed)
    output.flush()
    #expect(output.isClosed)
    output.line("nor this")
    try output.finish()
  }

  @Test func aCommandEndsSilentlyWhenItsReaderGoesAway() throws {
    let store = try TestStore(memos(0..<5000))
    let file = try store.file("rows.jsonl", "")
    for words in [
      ["scan", store.path], ["scan", store.path, "--json"], ["latest", store.path],
      ["latest", store.path, "--json"], ["get", store.path, "3"], ["summary", store.path],
      ["verify", store.path], ["help"], ["import", store.path, file],
    ] {
      let (reader, writer) = try pipe()
      let (errorReader, errorWriter) = try pipe()
      close(reader)
      let code = Inspector(output: output(writer), errors: output(errorWriter)).run(words)
      close(writer)
      close(errorWriter)
      #expect(code == .fine, "\(words)")
      let errors = FileHandle(fileDescriptor: errorReader, closeOnDealloc: true)
      #expect(try errors.readToEnd() ?? Data() == Data(), "\(words)")
    }
  }

  @Test func anOutputThatFailsIsASystemError() throws {
    let full = open("/dev/full", O_WRONLY)
    guard full >= 0 else { return }
    defer { close(full) }
    let store = try TestStore(memos(0..<2000))
    for words in [["scan", store.path], ["help"], ["get", store.path, "1", "--json"]] {
      let (reader, writer) = try pipe()
      let code = Inspector(output: output(full), errors: output(writer)).run(words)
      close(writer)
      #expect(code == .system, "\(words)")
      let errors = try FileHandle(fileDescriptor: reader, closeOnDealloc: true).readToEnd()
      #expect(
        errors.map { String(decoding: $0, as: UTF8.self) }
          == "kvinspect: write of test output failed: No space left on device\n")
    }
  }

  /// Somebody who shares the pipe may have switched it to calls that do not wait.
  @Test func aPipeThatDoesNotWaitGetsEverything() throws {
    let (reader, writer) = try pipe()
    #expect(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
    let received = Lock(Data())
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let file = FileHandle(fileDescriptor: reader, closeOnDealloc: true)
      // Late, so that the pipe is full at first.
      usleep(50_000)
      let data = (try? file.readToEnd()) ?? Data()
      received.withLock { $0 = data }
      isDone.signal()
    }
    let output = output(writer)
    let expected = (0..<50_000).map { "line \($0)" }
    for line in expected { output.line(line) }
    try output.finish()
    close(writer)
    isDone.wait()
    #expect(lines(of: received.withLock { [UInt8]($0) }) == expected)
  }

  @Test func aSourceThatDoesNotWaitIsReadToItsEnd() throws {
    let (reader, writer) = try pipe()
    #expect(fcntl(reader, F_SETFL, O_NONBLOCK) == 0)
    Thread.detachNewThread {
      for number in 0..<3 {
        usleep(20_000)
        let line = Array("line \(number)\n".utf8)
        _ = write(writer, line, line.count)
      }
      close(writer)
    }
    var lines = LineReader(descriptor: reader, name: "test")
    var count = 0
    while try lines.next() != nil { count += 1 }
    close(reader)
    #expect(count == 3)
  }

  // MARK: - Terminals

  #if canImport(Glibc)
    /// Both ends of a new terminal of some width.
    private func terminal(columns: UInt16) throws -> (screen: Int32, terminal: Int32) {
      let screen = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      try #require(screen >= 0)
      var lock: Int32 = 0
      var number: Int32 = 0
      try #require(ioctl(screen, 0x4004_5431, &lock) == 0)  // TIOCSPTLCK
      try #require(ioctl(screen, 0x8004_5430, &number) == 0)  // TIOCGPTN
      let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
      try #require(terminal >= 0)
      var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      try #require(ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)
      return (screen, terminal)
    }

    /// What stands on the screen after a command with both outputs there.
    private func screen(columns: UInt16, _ words: [String]) throws -> String {
      let (screen, terminal) = try terminal(columns: columns)
      let isClosed = DispatchSemaphore(value: 0)
      let text = Lock("")
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        // Reading fails when the last one who has the terminal open is gone.
        while case let count = read(screen, &chunk, chunk.count), count > 0 {
          bytes += chunk[..<count]
        }
        text.withLock { [bytes] in $0 = String(decoding: bytes, as: UTF8.self) }
        isClosed.signal()
      }
      let output = output(terminal)
      #expect(output.isTerminal && output.columnCount == Int(columns))
      #expect(Inspector(output: output, errors: self.output(terminal)).run(words) == .fine)
      close(terminal)
      isClosed.wait()
      close(screen)
      return text.withLock { $0.replacing("\r\n", with: "\n") }
    }

    @Test func linesAreCutToTheTerminal() throws {
      let long = String(repeating: "long text ", count: 30)
      let store = try TestStore([memo(MemoID(1), at: 0, long), memo(MemoID(2), at: 1, "short")])
      let lines = try screen(columns: 40, ["scan", store.path]).split(separator: "\n")
      #expect(lines.map(\.count) == [27, 40])
      #expect(lines.last?.hasSuffix("\u{2026}") == true)
      #expect(try InspectorRun("scan", store.path).outputLines[1].count == 22 + long.count)
    }

    /// Progress is for people who wait at a terminal; it is gone when the work is done.
    @Test func progressIsShownOnATerminalOnly() throws {
      let store = try TestStore()
      let rows = (0..<2500).map {
        #"{"id":\#($0),"createdAt":"2024-05-01T12:00:00Z","body":"x"}"#
      }
      let file = try store.file("rows.jsonl", rows.joined(separator: "\n"))
      let shown = try screen(columns: 80, ["import", store.path, file])
      #expect(shown.contains("\r\u{1B}[K[") && shown.contains("%  1000 memos"))
      #expect(shown.hasSuffix("\r\u{1B}[K2500 new\n"))
      let json = try screen(columns: 80, ["import", store.path, file, "--json"])
      #expect(!json.contains("\u{1B}"))
      #expect(try InspectorRun("import", store.path, file).errors.isEmpty)
    }
  #endif
}
