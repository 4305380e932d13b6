import KVSalvage
import KVTestSupport
import Testing

@testable import KVEngine

/// Every file of a small store missing, cut, or with a wrong byte: what verifies is kept, exactly.
@Suite struct SalvageSweepTests {
  enum Change: Equatable, CustomStringConvertible {
    case missing
    case cut(Int)
    case flip(Int)

    var description: String {
      switch self {
      case .missing: "missing"
      case .cut(let count): "cut to \(count)"
      case .flip(let offset): "wrong at \(offset)"
      }
    }

    func applied(to bytes: [UInt8]) -> [UInt8]? {
      switch self {
      case .missing: return nil
      case .cut(let count): return Array(bytes.prefix(count))
      case .flip(let offset):
        var bytes = bytes
        bytes[offset] ^= 1 << UInt8(offset % 8)
        return bytes
      }
    }

    /// Whether a stretch of the file is gone with it.
    func concerns(_ range: Range<Int>) -> Bool {
      switch self {
      case .missing: true
      case .cut(let count): range.upperBound > count
      case .flip(let offset): range.contains(offset)
      }
    }
  }

  static func changes(of bytes: [UInt8], shift: Int) -> [Change] {
    let count = bytes.count
    let cuts = Set([0, 1, 15, 47, 48, 60, 95, 96, count / 3, count / 2, count - 73, count - 1])
    return [.missing] + cuts.filter { (0..<count).contains($0) }.sorted().map { .cut($0) }
      + stride(from: shift % 64, to: count, by: 64).map { .flip($0) }
  }

  private func sweep(
    _ contents: [String: [UInt8]], shift: Int,
    _ check: (String, Change, SalvageReport, StoreContent) throws -> Void
  ) throws {
    for (name, bytes) in contents.sorted(by: { $0.key < $1.key }) {
      for change in Self.changes(of: bytes, shift: shift) {
        var changed = contents
        changed[name] = change.applied(to: bytes)
        do {
          let (report, content) = try SalvageBed(changed).salvage()
          try check(name, change, report, content)
        } catch {
          Issue.record("\(name) \(change): \(error)")
        }
      }
    }
  }

  /// Without replaced files exactly what is in sound blocks and records comes back.
  @Test(
    .bug(id: "B01"), .bug(id: "B11"), .bug(id: "B13"), .bug(id: "B47"),
    arguments: [0, 33], [true, false])
  func whatVerifiesIsKeptAndNothingElse(shift: Int, hasManifest: Bool) throws {
    let store = try SmallStore()
    let oracle = try SalvageOracle(store.files)
    #expect(oracle.content { _ in false } == store.states.last)
    let log = FileName.log(store.logNumber).text
    var contents = oracle.live
    if !hasManifest { contents["MANIFEST"] = nil }
    try sweep(contents, shift: shift) { name, change, report, content in
      var isBehindGap = false
      let expected = oracle.content { part in
        guard part.fileName == name else { return false }
        // Behind a gap in a log nothing counts, and without its store's id no record is proved.
        if name == log, !hasManifest, case .flip(16..<32) = change { isBehindGap = true }
        if name == log, case .cut(..<96) = change { isBehindGap = true }
        if change.concerns(part.range) {
          if name == log { isBehindGap = true }
          return true
        }
        return isBehindGap
      }
      guard content == expected else {
        throw Problem("\(content.count) entries instead of \(expected.count)")
      }
      // A log that ends where a record ends does not show that there was more.
      let isLost = expected != store.states.last && (name != log || change != .cut(96))
      guard !isLost || !report.losses.isEmpty else { throw Problem("a loss is not reported") }
      if hasManifest, name != "MANIFEST", report.mayHoldDeletedKeys {
        throw Problem("deleted keys cannot be back")
      }
    }
  }

  /// With the files that were replaced, nothing of the flushed state is lost.
  @Test(arguments: [5]) func replacedFilesFillWhatIsLost(shift: Int) throws {
    let store = try SmallStore()
    let log = FileName.log(store.logNumber).text
    try sweep(try store.files.storeFiles(), shift: shift) { name, change, report, content in
      guard name != log else { return }
      guard content == store.states.last else { throw Problem("\(content.count) entries") }
      let isLive = FileName(name).map { name in
        store.segmentNumbers.contains { name == .segment($0) } || name == .manifest
      }
      if isLive == false, !report.isComplete { throw Problem("nothing is lost") }
    }
  }
}
