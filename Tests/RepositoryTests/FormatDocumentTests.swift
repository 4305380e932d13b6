import MemoCore
import Testing

@testable import KVEngine

/// The tables of FORMAT.md and the constants of the sources say the same.
@Suite struct FormatDocumentTests {
  static let document = FormatDocument.shared

  /// A registry in section 13 and the codes that the sources have, by name.
  struct Registry: Sendable, CustomTestStringConvertible {
    let section: String
    let codes: [String: UInt64]
    /// Codes that the sources know and nothing writes.
    var reserved: Set<String> = []
    var testDescription: String { section }
  }

  /// The cases of an enum with codes, by name.
  private static func codes<Code: CaseIterable & RawRepresentable>(
    _: Code.Type
  ) -> [String: UInt64] where Code.RawValue: FixedWidthInteger {
    let pairs = Code.allCases.map { ("\($0)", UInt64(truncatingIfNeeded: $0.rawValue)) }
    return Dictionary(pairs) { first, _ in first }
  }

  static let registries = [
    Registry(section: "13.1", codes: codes(FileKind.self)),
    Registry(section: "13.3", codes: codes(RecordKind.self)),
    Registry(
      section: "13.4", codes: codes(BlockKind.self), reserved: ["grams"]),
    Registry(section: "13.5", codes: codes(BlockCodecID.self)),
    Registry(section: "13.6", codes: codes(Properties.Tag.self)),
    Registry(
      section: "13.7",
      codes: [
        "memos": UInt64(MemoSpace.memos.code), "ids": UInt64(MemoSpace.ids.code),
        "meta": UInt64(MemoSpace.meta.code), "trash": UInt64(MemoSpace.trash.code),
        "feed": UInt64(MemoSpace.feed.code),
        "uniqueKeys": UInt64(MemoSpace.uniqueKeys.code),
        "orderedKeys": UInt64(MemoSpace.orderedKeys.code),
        "collections": UInt64(MemoSpace.collections.code),
        "user": UInt64(Space.standard.code),
      ]),
    Registry(section: "13.8", codes: codes(MemoRecord.Flag.self)),
    Registry(section: "13.9", codes: codes(MemoID.Kind.self)),
    Registry(section: "13.11", codes: codes(PayloadValue.Tag.self)),
    Registry(section: "13.12", codes: codes(MemoIndexValue.Kind.self)),
    Registry(section: "13.13", codes: codes(FeedEntry.Kind.self)),
  ]

  private static func number(_ text: String?) -> UInt64? {
    guard let text else { return nil }
    return text.hasPrefix("0x")
      ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text.replacing(",", with: ""))
  }

  @Test(arguments: registries)
  func aRegistryHoldsTheCodesOfTheSources(registry: Registry) throws {
    let rows = Self.document.table(in: registry.section)
    #expect(Set(rows.compactMap { $0["Code"] }).count == rows.count, "a code stands twice")
    #expect(Set(rows.compactMap { $0["Name"] }).count == rows.count, "a name stands twice")
    for (name, code) in registry.codes {
      let row = try #require(rows.first { $0["Name"] == name }, "\(name) is not registered")
      #expect(Self.number(row["Code"]) == code, "\(name)")
      let isActive = !registry.reserved.contains(name)
      #expect(row["Status"] == (isActive ? "active" : "reserved"), "\(name)")
    }
    for row in rows where row["Status"] == "active" {
      #expect(registry.codes[row["Name"] ?? ""] != nil, "\(row) is nowhere in the sources")
    }
  }

  @Test func everyRegisteredCodeIsActiveOrReservedWithAVector() {
    let names = Set(Self.document.vectorNames)
    for section in (1...13).map({ "13.\($0)" }) {
      let rows = Self.document.table(in: section)
      #expect(!rows.isEmpty, "\(section)")
      for row in rows {
        #expect(["active", "reserved"].contains(row["Status"]), "\(row)")
        #expect(Self.number(row["Since"]) == UInt64(FormatVersion.current), "\(row)")
        let vector = row["Vector"] ?? ""
        let needsNone = section == "13.10" || row["Status"] == "reserved"
        #expect(names.contains(vector) || (vector == "-" && needsNone), "\(row)")
      }
    }
  }

  @Test func theSpacesOfMemosAreRegistered() {
    let active = Self.document.table(in: "13.7").filter { $0["Status"] == "active" }
    let codes = active.compactMap { Self.number($0["Code"]) }
    let own = codes.filter { $0 < UInt64(Limits.Space.firstUserCode) }
    let spaces = [
      MemoSpace.memos, MemoSpace.ids, MemoSpace.uniqueKeys, MemoSpace.trash, MemoSpace.feed,
      MemoSpace.meta, MemoSpace.orderedKeys, MemoSpace.collections,
    ]
    #expect(own.sorted() == spaces.map { UInt64($0.code) })
  }

  @Test func recordKindsStoreAndChangeWhatTheTableSays() throws {
    let rows = Self.document.table(in: "13.3")
    for kind in RecordKind.allCases {
      let row = try #require(rows.first { $0["Name"] == "\(kind)" })
      #expect(row["Stores a value"] == (kind.isPut ? "yes" : "no"))
      #expect(row["Change"] == String(kind.change))
    }
  }

  @Test func magicNumbersBeginTheirVectors() throws {
    let places = ["file header": 0, "log record": 0, "segment footer": 64]
    for row in Self.document.table(in: "13.2") {
      let place = try #require(places[row["Name"] ?? ""])
      let bytes = try #require(Self.document.vector(row["Vector"] ?? ""))
      let magic = (row["Code"] ?? "").split(separator: " ").compactMap { UInt8($0, radix: 16) }
      #expect(magic.count >= 4)
      #expect(row["Status"] == "active")
      #expect(Array(bytes[place...].prefix(magic.count)) == magic, "\(row)")
    }
  }

  @Test func namesOfFilesHaveTheMeaningsOfTheTable() throws {
    let rows = Self.document.table(in: "13.10")
    #expect(rows.count == 7)
    for row in rows {
      let text = try #require(row["Code"])
      let name = try #require(FileName(text))
      let meaning = String("\(name)".prefix { $0 != "(" })
      #expect(meaning == row["Name"])
      #expect(name.text == text)
      #expect(row["Status"] == "active")
    }
  }

  @Test func checkValuesAreThoseOfTheTable() throws {
    let rows = Self.document.tables(in: "2").first { $0.first?["Function"] != nil } ?? []
    #expect(rows.count == 9)
    for row in rows {
      let input = row["Input"] ?? ""
      let bytes = Array(input.utf8)
      var result: [UInt8] = []
      switch row["Function"] {
      case "CRC32C": result = bigEndian(UInt64(FormatExample.checksum(of: bytes))).suffix(4)
      case "XXH64": result = bigEndian(FormatExample.hash(of: bytes))
      case "varint": result.append(varint: try #require(UInt64(input)))
      case "zigzag": result.append(zigzag: try #require(Int64(input)))
      default: Issue.record("unknown function in \(row)")
      }
      let digits = result.map { String(UInt16($0) + 0x100, radix: 16, uppercase: true).suffix(2) }
      #expect(digits.joined() == (row["Result"] ?? "").replacing(" ", with: ""), "\(row)")
    }
  }

  private func bigEndian(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: value)
    return bytes
  }

  @Test func versionsAreTheOnesOfTheSources() {
    let versions = Self.document.table(in: "14").compactMap { Self.number($0["Version"]) }
    #expect(versions.max() == UInt64(FormatVersion.current))
    #expect(MemoRecord.version == 0)
  }

  @Test func diagramsAreASCIIAndFitOnEveryScreen() {
    var isFenced = false
    var wide: [String] = []
    for line in Self.document.lines {
      if line.hasPrefix("```") {
        isFenced.toggle()
      } else if isFenced, line.utf8.count > 72 {
        wide.append(line)
      }
    }
    #expect(!isFenced)
    #expect(wide == [])
    #expect(Self.document.lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } })
  }

  @Test func theSectionsStandInTheirOrder() {
    let numbers = Self.document.lines.filter { $0.hasPrefix("## ") }
      .map { String($0.dropFirst(3).prefix { $0 != "." }) }
    #expect(numbers == (1...17).map(String.init))
  }

  @Test func whatTheSourcesQuoteExists() {
    for file in Repository.productFiles {
      for line in file.lines where line.contains("FORMAT.md") {
        let words = line.split { " ().,:".contains($0) && $0 != "." }
        guard let place = words.firstIndex(of: "FORMAT.md") else { continue }
        let next = words[(place + 1)...].first { $0 != "section" } ?? ""
        let number = String(next.reversed().drop { $0 == "." }.reversed())
        guard number.utf8.first.map({ $0 >= 0x30 && $0 <= 0x39 }) ?? false else { continue }
        #expect(!Self.document.section(number).isEmpty, "\(file.path): \(line)")
      }
    }
  }
}
