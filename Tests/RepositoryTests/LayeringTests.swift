import Testing

/// Calls go down only: which folder of the engine, and which module, may name which.
@Suite struct LayeringTests {
  /// The folders of KVEngine from the bottom; those side by side do not name each other.
  static let layers = [
    ["Support"], ["Contract"], ["Platform"], ["Format"], ["Keys", "Cache"],
    ["Segment", "Log", "MemTable"], ["Manifest"], ["Iteration"], ["Compaction"], ["Engine"],
    ["Database"],
  ]

  /// What each module may import; the C library goes by three names.
  static let imports: [String: Set<String>] = [
    "Sources/LZ4Blocks": ["CLZ4"],
    "Sources/KVEngine": ["CKVShims", "LZ4Blocks", "Glibc", "Musl", "Darwin", "Synchronization"],
    "Sources/KVSalvage": ["KVEngine"],
    "Sources/TextSearch": ["CTextTables"],
    "Sources/MemoCore": ["TextSearch", "KVSalvage", "KVEngine", "Glibc", "Musl", "Darwin"],
    "Sources/MemoHistory": [
      "MemoCore", "TextSearch", "KVEngine", "Dispatch", "Observation", "Foundation",
      "FoundationEssentials",
      "Glibc", "Musl",
    ],
    "Sources/MemoHistoryTesting": [
      "MemoHistory", "MemoCore", "KVEngine", "Glibc", "Musl", "Darwin",
    ],
    "Tools/KVInspectCore": [
      "MemoCore", "TextSearch", "KVSalvage", "KVEngine", "Glibc", "Musl", "Darwin",
    ],
    "Tools/kvinspect": ["KVInspectCore", "Glibc", "Musl", "Darwin"],
  ]

  private static let engine = Repository.swiftFiles(below: "Sources/KVEngine")

  private static func folder(of file: SwiftSource) -> String {
    let parts = file.path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : ""
  }

  /// The folder that declares each name which other files can see.
  private static let folders: [String: String] = {
    var folders: [String: String] = [:]
    for file in engine {
      for declaration in file.declarations where declaration.isAtFileLevel {
        if !declaration.isFileLocal { folders[declaration.name] = folder(of: file) }
      }
    }
    return folders
  }()

  private static func level(of folder: String) -> Int? {
    layers.firstIndex { $0.contains(folder) }
  }

  /// Whether a file of one folder may name what another one declares.
  private static func mayName(_ target: String, from source: String) -> Bool {
    guard let from = level(of: source), let to = level(of: target) else { return false }
    return source == target || to < from
  }

  @Test func everyFolderOfTheEngineHasALayer() {
    let found = Set(Self.engine.map(Self.folder))
    #expect(found.subtracting(Self.layers.joined()) == [])
    #expect(Set(Self.folders.values).count >= 12)
  }

  @Test(arguments: layers.joined())
  func aFolderNamesNoHigherOne(folder: String) {
    var found: Set<String> = []
    for file in Self.engine where Self.folder(of: file) == folder {
      // A name that the file declares itself, as a nested type, is that one.
      let own = Set(file.declarations.map(\.lastName))
      for word in file.namedWords where !own.contains(word.text) {
        guard let target = Self.folders[word.text], !Self.mayName(target, from: folder) else {
          continue
        }
        found.insert("\(file.path) names \(word.text) of \(target)")
      }
    }
    #expect(found.sorted() == [])
  }

  @Test func theRuleLooksDownOnly() {
    #expect(Self.mayName("Format", from: "Segment"))
    #expect(Self.mayName("Segment", from: "Segment"))
    #expect(!Self.mayName("Segment", from: "Format"))
    #expect(!Self.mayName("Log", from: "Segment"))
    #expect(Self.folders["SegmentWriter"] == "Segment")
    #expect(Self.folders["compareBytes"] == "Format")
  }

  @Test(arguments: imports.keys.sorted())
  func aModuleImportsWhatIsBelowIt(folder: String) {
    let files = Repository.swiftFiles(below: folder)
    #expect(!files.isEmpty)
    for file in files {
      #expect(file.imports.subtracting(Self.imports[folder] ?? []) == [], "\(file.path)")
    }
  }

  @Test func everyModuleHasARule() {
    let modules = Set(
      Repository.productFiles.map { $0.path.split(separator: "/").prefix(2).joined(separator: "/") }
    )
    #expect(modules == Set(Self.imports.keys))
  }

  @Test func theLZ4LibraryHasOneDoor() {
    let files = Repository.swiftFiles.filter { $0.imports.contains("CLZ4") }
    #expect(
      files.map(\.path) == [
        "Sources/LZ4Blocks/LZ4Library.swift", "Tests/LZ4BlocksTests/LibraryDecoder.swift",
      ])
    let codecs = Repository.productFiles.filter { $0.imports.contains("LZ4Blocks") }
    #expect(codecs.map(\.path) == ["Sources/KVEngine/Segment/LZ4Codec.swift"])
  }
}
