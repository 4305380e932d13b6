import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// The real program: exit codes, pipes, closed descriptors, permissions, a full disk.
@Suite struct ExecutableTests {
  private func rows(_ ids: Range<Int>, body: String = secret) -> String {
    ids.map { #"{"id":\#($0),"createdAt":"2024-05-01T12:00:00Z","body":"\#(body)"}"# }
      .joined(separator: "\n") + "\n"
  }

  @Test func exitCodesAreThoseOfTheHelp() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<5))
    let bad = try store.file("bad.jsonl", rows(0..<5) + "{bad\n")
    let path = store.path
    #expect(try Executable.run("latest", path).status == 3)
    #expect(try Executable.run("import", path, file).status == 0)
    #expect(try Executable.run("import", path, bad).status == 1)
    #expect(try Executable.run("import", path, path + "/nothing").status == 3)
    for command in ["latest", "scan", "summary", "verify"] {
      #expect(try Executable.run(command, path).status == 0)
    }
    #expect(try Executable.run("get", path, "3").status == 0)
    #expect(try Executable.run("get", path, "99").status == 1)
    #expect(try Executable.run().status == 2)
    #expect(try Executable.run("latest").status == 2)
    #expect(try Executable.run("latest", path, "0").status == 2)
    #expect(try Executable.run("frobnicate", path).status == 2)
    #expect(try Executable.run("--help").status == 0)
    #expect(try Executable.run("help", "frobnicate").status == 2)
    #expect(try Executable.run("--version").outputText.hasPrefix("kvinspect "))
    try store.patch("MANIFEST") { $0 = Data() }
    for command in ["latest", "scan", "summary", "verify"] {
      #expect(try Executable.run(command, path).status == 1)
    }
  }

  @Test func standardInputIsASource() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<1500))
    let run = try Executable.run("import", store.path, "-", input: file)
    #expect(run.status == 0 && run.outputText == "1500 new\n" && run.errors.isEmpty)
    let piped = try Executable.shell(#"cat "$2" | "$0" import "$1" -"#, store.path, file)
    #expect(piped.status == 0 && piped.outputText == "1500 there already\n")
    // A file called "-" is reached by a path.
    let copy = try TestStore()
    let odd = try store.file("-", rows(0..<2))
    let named = try Executable.shell(
      #"cd "$2" && "$0" import "$1" ./-"#, copy.path, store.directory.path)
    #expect(named.outputText == "2 new\n", "\(odd)")
  }

  @Test(.bug(id: "B107")) func aReaderThatGoesAwayIsNotComplainedAbout() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<30_000))
    #expect(try Executable.run("import", store.path, file).status == 0)
    let script = #"{ "$0" "$2" "$1" $3; echo "code $?" >&2; } | head -1"#
    for words in [["scan", ""], ["scan", "--json"], ["latest", "20000"]] {
      let run = try Executable.shell(script, store.path, words[0], words[1])
      #expect(run.outputLines.count == 1, "\(words)")
      #expect(run.errorLines == ["code 0"], "\(words)")
    }
    // The same when the caller has left SIGPIPE as it was, and when it ignores it.
    let ignored = try Executable.shell(#"trap '' PIPE; "# + script, store.path, "scan", "")
    #expect(ignored.errorLines == ["code 0"])
  }

  /// The next file to be opened gets the number of a closed descriptor: nothing that is said may
  /// end up in the store.
  @Test func closedDescriptorsDoNoHarm() throws {
    for closed in ["2>&-", ">&-", ">&- 2>&-", "0<&- >&- 2>&-"] {
      let store = try TestStore()
      let file = try store.file(
        "rows.jsonl", "{bad\n" + rows(0..<1200) + "{bad\n" + rows(1200..<1400))
      let run = try Executable.shell(#""$0" import "$1" "$2" "# + closed, store.path, file)
      // Output that cannot be written is an error, messages to nobody are none.
      #expect(run.status == (closed.contains(">&- ") || closed == ">&-" ? 3 : 1), "\(closed)")
      #expect(try store.memos().count == 1400, "\(closed)")
      #expect(try store.contents()["LOCK"] == Data(), "\(closed)")
      #expect(try Executable.run("verify", store.path).status == 0, "\(closed)")
    }
    let store = try TestStore()
    let file = try store.file("rows.jsonl", "{bad\n" + rows(0..<1200) + "{bad\n")
    let piped = try Executable.shell(
      #"cat "$2" | { "$0" import "$1" - >&- 2>&-; }"#, store.path, file)
    #expect(piped.status == 3)
    #expect(try store.memos().count == 1200)
    #expect(try store.contents()["LOCK"] == Data())
    let none = try Executable.shell(#""$0" import "$1" - <&-"#, store.path)
    #expect(none.status == 3)
    #expect(none.errorLines.count == 1)
  }

  @Test func anotherProcessThatWritesIsRespected() throws {
    let store = try TestStore(memos(0..<10))
    let holder = try MemoTimeline(at: store.path)
    try holder.insert(memo(MemoID(100), at: 100, "held"))
    let file = try store.file("rows.jsonl", rows(0..<20))
    let before = try store.contents()
    let run = try Executable.run("import", store.path, file)
    #expect(run.status == 3 && run.output.isEmpty && run.errorLines.count == 1)
    #expect(try store.contents() == before)
    #expect(try Executable.run("latest", store.path, "1").outputText.hasSuffix("held\n"))
    #expect(try Executable.run("verify", store.path).status == 0)
    // The writer goes on as if nothing had happened.
    try holder.insert(memo(MemoID(101), at: 101, "next"))
    try holder.close()
    #expect(try Executable.run("import", store.path, file).status == 0)
  }

  /// Root may read everything, so the program gives its rights up first.
  @Test(.enabled(if: dropsRights != nil, "root needs setpriv and libraries that all may read"))
  func aFolderWithoutPermissionIsASystemError() throws {
    let store = try TestStore(memos(0..<10))
    let program = store.directory.path("kvinspect")
    try FileManager.default.copyItem(atPath: try Executable.path(), toPath: program)
    chmod(store.directory.path, 0o755)
    chmod(store.path, 0)
    defer { chmod(store.path, 0o700) }
    let script = (Self.dropsRights ?? "") + #""$1" "$2" "$3""#
    for command in ["latest", "scan", "summary", "verify"] {
      let refused = try Executable.shell(script, program, command, store.path)
      #expect(refused.status == 3 && refused.output.isEmpty, "\(command)")
      #expect(refused.errorLines.count == 1, "\(command)")
      #expect(refused.errorLines.first?.contains("Permission denied") == true, "\(command)")
    }
  }

  /// What stands before a command so that it runs without the rights of root; `nil` if that fails.
  private static let dropsRights: String? = {
    if getuid() != 0 { return "" }
    let prefix = "setpriv --reuid=65534 --regid=65534 --clear-groups "
    guard let directory = try? TemporaryDirectory(), let path = try? Executable.path(),
      (try? FileManager.default.copyItem(atPath: path, toPath: directory.path("kvinspect"))) != nil,
      chmod(directory.path, 0o755) == 0
    else { return nil }
    let run = try? Executable.shell(prefix + #""$1" --version"#, directory.path("kvinspect"))
    return run?.status == 0 ? prefix : nil
  }()

  // MARK: - Full disk

  /// A file-size limit, which the system reports like a full disk: at every limit the error is
  /// said, what was acknowledged is there, and the import can be repeated.
  @Test(arguments: [0, 1, 100, 129, 180, 256, 300, 400, 600, 1000, 2000, 4000])
  func aFullDiskLosesNothing(blocks: Int) throws {
    let store = try TestStore()
    let count = 6000
    let body = String(repeating: secret, count: 40)
    let file = try store.file("rows.jsonl", rows(0..<count, body: body))
    // The runtime of the thread sanitizer writes a file of its own as a program starts, which the
    // limit would end; it does without where it cannot make one.
    let run = try Executable.shell(
      #"ulimit -f "$3"; TMPDIR=/dev/null "$0" import "$1" "$2" --json"#, store.path, file,
      "\(blocks)")
    let acknowledged = try objects(run.outputLines).compactMap { $0["committed"] as? Int }.last ?? 0
    let errors = String(decoding: run.errors, as: UTF8.self)
    // The unit of the limit is 512 or 1,024 bytes.
    if blocks >= 4000 || (run.status == 0 && blocks > 1000) {
      #expect(run.status == 0 && acknowledged == count, "\(errors)")
    } else {
      #expect(run.status == 3 && !run.wasKilled, "\(run.status) \(errors)")
      #expect(run.errorLines.count == 1 && errors.contains("File too large"), "\(errors)")
      #expect(!errors.contains(secret))
    }
    if acknowledged > 0 {
      #expect(try Executable.run("verify", store.path).status == 0)
      let ids = try store.memos().map(\.id)
      #expect(ids.count >= acknowledged)
      #expect(ids == (0..<ids.count).reversed().map { MemoID(Int64($0)) })
    }
    let again = try Executable.run("import", store.path, file, "--json")
    #expect(again.status == 0)
    #expect(try store.memos().count == count)
    #expect(try Executable.run("verify", store.path).status == 0)
  }
}
