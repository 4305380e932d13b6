import Testing

@testable import KVEngine

/// Section 12 of FORMAT.md and `Limits` are the same list.
@Suite struct FormatLimitTests {
  static let limits: [String: any CustomStringConvertible & Sendable] = [
    "Key.maximumByteCount": Limits.Key.maximumByteCount,
    "Value.maximumByteCount": Limits.Value.maximumByteCount,
    "Batch.maximumByteCount": Limits.Batch.maximumByteCount,
    "Batch.maximumOperationCount": Limits.Batch.maximumOperationCount,
    "Sequence.maximum": Limits.Sequence.maximum,
    "Log.defaultByteCount": Limits.Log.defaultByteCount,
    "Log.zeroStepByteCount": Limits.Log.zeroStepByteCount,
    "Log.maximumByteCount": Limits.Log.maximumByteCount,
    "Log.fullByteCount": Limits.Log.fullByteCount,
    "Log.groupByteCount": Limits.Log.groupByteCount,
    "Block.defaultByteCount": Limits.Block.defaultByteCount,
    "Block.maximumByteCount": Limits.Block.maximumByteCount,
    "Block.restartInterval": Limits.Block.restartInterval,
    "Block.firstReadByteCount": Limits.Block.firstReadByteCount,
    "Block.readAheadByteCount": Limits.Block.readAheadByteCount,
    "Block.reusedByteCount": Limits.Block.reusedByteCount,
    "Block.dictionaryByteCount": Limits.Block.dictionaryByteCount,
    "Block.dictionaryBlockByteCount": Limits.Block.dictionaryBlockByteCount,
    "Block.writeByteCount": Limits.Block.writeByteCount,
    "Segment.defaultByteCount": Limits.Segment.defaultByteCount,
    "Segment.maximumByteCount": Limits.Segment.maximumByteCount,
    "Manifest.maximumByteCount": Limits.Manifest.maximumByteCount,
    "Manifest.maximumSegmentCount": Limits.Manifest.maximumSegmentCount,
    "Manifest.maximumLogCount": Limits.Manifest.maximumLogCount,
    "Manifest.boundByteCount": Limits.Manifest.boundByteCount,
    "Manifest.numberBound": Limits.Manifest.numberBound,
    "Manifest.graceSeconds": Limits.Manifest.graceSeconds,
    "Space.firstUserCode": Limits.Space.firstUserCode,
    "Space.userCodes":
      "\(Limits.Space.userCodes.lowerBound) to \(Limits.Space.userCodes.upperBound)",
    "Space.nameMaximumByteCount": Limits.Space.nameMaximumByteCount,
  ]

  /// The names of all constants in Limits.swift, as "Enum.name".
  private static var declared: [String] {
    let source = Repository.swiftFiles.first { $0.path.hasSuffix("/Support/Limits.swift") }
    var subject = ""
    var names: [String] = []
    let tokens = source?.tokens ?? []
    for (index, token) in tokens.enumerated() where index + 1 < tokens.count {
      if token.text == "enum" { subject = tokens[index + 1].text }
      if token.text == "let" { names.append(subject + "." + tokens[index + 1].text) }
    }
    return names
  }

  @Test func theTableHoldsEveryLimitWithItsValue() {
    let rows = FormatDocument.shared.table(in: "12")
    var found: [String: String] = [:]
    for row in rows {
      found[row["Limit"] ?? ""] = row["Value"]?.replacing(",", with: "")
      #expect(["format", "library"].contains(row["Binds"]), "\(row)")
      #expect(row["Reason"] != "", "\(row)")
    }
    #expect(found == Self.limits.mapValues(\.description))
    #expect(rows.count == Self.limits.count)
  }

  @Test func theListHoldsEveryLimitOfTheSources() {
    #expect(Self.declared.sorted() == Self.limits.keys.sorted())
  }
}
