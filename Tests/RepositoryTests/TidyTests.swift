import Testing

/// What no compiler checks and every file keeps.
@Suite struct TidyTests {
  static let files = Repository.swiftFiles
  static let product = Repository.productFiles

  /// Types that synchronise by hand, each with the reason why the compiler cannot see it.
  static let uncheckedSendable = [
    "Sources/KVEngine/MemTable/MemTable.swift":
      "one thread inserts, others read complete entries of an append-only list",
    "Sources/KVEngine/Platform/ByteBuffer.swift":
      "filled by its maker before anyone else sees it, never changed after",
    "Sources/KVEngine/Support/Lock.swift":
      "the lock itself, and the condition that is used with it",
  ]

  /// Files outside of Platform/ that differ between systems.
  static let systemDependent = [
    "Sources/KVEngine/Support/Lock.swift": "pthread calls",
    "Sources/KVEngine/Support/PlantedFault.swift": "environment, in builds with faults only",
    "Sources/LZ4Blocks/LZ4BlockCodec.swift": "liblz4 or our own codec",
    "Sources/LZ4Blocks/LZ4Library.swift": "liblz4",
    "Sources/MemoCore/MemoTimestamp+Now.swift": "wall clock and time zone of the C library",
    "Sources/MemoHistory/Entities/UUID+MemoIdentifier.swift": "the module that has UUID",
    "Sources/MemoHistory/Live/MemoSections+TimeZone.swift": "time zones of Foundation",
    "Sources/MemoHistory/StoreFolder.swift": "folders, protection and backup of Apple systems",
    "Sources/MemoHistoryTesting/FailingFileSystem.swift": "what the system says when it fails",
    "Tools/KVInspectCore/LineReader.swift": "reads a descriptor",
    "Tools/KVInspectCore/Output.swift": "writes a descriptor",
    "Tools/kvinspect/main.swift": "exit",
  ]

  private func places(_ file: SwiftSource, _ lines: [Int]) -> [String] {
    lines.map { "\(file.path):\($0)" }
  }

  @Test func theRepositoryIsFound() {
    #expect(Self.product.count > 50)
    #expect(Repository.text(of: "Package.swift").contains("MemoKV"))
    #expect(Self.files.allSatisfy { !$0.lines.isEmpty && $0.lines != [""] })
  }

  @Test func filesHaveAtMost400Lines() {
    let long = Self.files.filter { $0.lineCount > 400 }
    #expect(long.map { "\($0.path): \($0.lineCount)" } == [])
  }

  @Test func functionsHaveAtMost70Lines() {
    let long = Self.files.flatMap { file in
      file.bodies.filter { $0.lineCount > 70 }.map { "\(file.path):\($0.line): \($0.lineCount)" }
    }
    #expect(long == [])
  }

  @Test func linesHaveAtMost100Columns() {
    let long = Self.files.flatMap { file in
      file.lines.indices.filter { file.lines[$0].unicodeScalars.count > 100 }
        .map { "\(file.path):\($0 + 1)" }
    }
    #expect(long == [])
  }

  @Test func sourcesAndToolsAreASCII() {
    let paths = Repository.files(below: ["Sources", "Tools"]).filter { path in
      !Repository.text(of: path).utf8.allSatisfy { $0 < 0x80 }
    }
    #expect(paths == [])
  }

  /// Comments are a quarter of the lines, and nobody should save on them.
  @Test func theEngineHasFewerThan10000LinesOfCode() {
    let lines = Repository.swiftFiles(below: "Sources/KVEngine").flatMap(\.lines)
    let code = lines.map { $0.drop { $0 == " " } }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
    #expect(code.count > 5000 && code.count < 10_000)
  }

  @Test func librariesPrintNothing() {
    let calls = Self.product.flatMap { file in
      places(file, file.lines(of: "print", "(") + file.lines(of: "debugPrint", "("))
    }
    #expect(calls == [])
  }

  @Test func nothingTrapsOnPurpose() {
    let found = Self.product.flatMap { file in
      places(
        file, file.linesForcing("try") + file.linesForcing("as") + file.lines(of: "fatalError"))
    }
    #expect(found == [])
  }

  @Test func nothingIsLeftForLater() {
    // Put together here, so that this file does not find itself.
    let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    let paths = Repository.files(below: ["Sources", "Tools", "Tests"])
      .filter { !$0.contains("/Fixtures/") }
    let found = (paths + ["Package.swift", "FORMAT.md", "Makefile"]).filter { path in
      let text = Repository.text(of: path)
      return marks.contains { text.contains($0) }
    }
    #expect(found == [])
  }

  @Test func uncheckedSendableIsListedWithItsReason() {
    let using = Self.product.filter { !$0.lines(of: "@", "unchecked", "Sendable").isEmpty }
    #expect(using.map(\.path).sorted() == Self.uncheckedSendable.keys.sorted())
  }

  @Test func systemsDifferInFewFiles() {
    let using = Self.product.filter {
      !$0.lines(of: "canImport").isEmpty && !$0.path.hasPrefix("Sources/KVEngine/Platform/")
    }
    #expect(using.map(\.path).sorted() == Self.systemDependent.keys.sorted())
    let byName = Self.files.flatMap { places($0, $0.lines(of: "#", "if", "os")) }
    #expect(byName == [])
  }

  @Test func typeNamesSayWhatAThingIs() {
    let banned = [
      "Manager", "Helper", "Helpers", "Util", "Utils", "Impl", "Handler", "Info", "Data", "Object",
      "Base",
    ]
    let found = Self.files.flatMap { file in
      file.declarations.filter { declaration in
        declaration.kind != "func" && banned.contains { declaration.lastName.hasSuffix($0) }
      }.map { "\(file.path): \($0.name)" }
    }
    #expect(found == [])
  }

  @Test func codesThatReachTheDiskSayThatTheyStay() {
    let codes: Set = ["UInt8", "UInt16", "UInt32", "UInt64"]
    var count = 0
    for file in Self.product where file.path.hasPrefix("Sources/") {
      for declaration in file.declarations where declaration.kind == "enum" {
        guard let raw = declaration.inheritance.first, codes.contains(raw) else { continue }
        count += 1
        let comment = file.comment(above: declaration.line)
        #expect(
          comment.contains("Never renumber (FORMAT.md 13)"), "\(file.path): \(declaration.name)")
      }
    }
    #expect(count >= 5)
  }
}
