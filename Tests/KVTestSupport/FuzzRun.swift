import Foundation

/// Mutated inputs one after the other, as many as belong to the thoroughness of the run.
///
/// The seed of the input at hand stands in the file that `MEMOKV_FUZZ_TRACE` names, so that it is
/// known after a trap. A finding becomes a file `TARGET-name` in `Tests/Fixtures/findings`, and is
/// tried first ever after.
package struct FuzzRun: Sendable {
  let target: String
  private let count: Int

  /// Prepares that many inputs of a push; a nightly run has twenty times as many.
  package init(_ target: String, count: Int) {
    self.target = target
    self.count = Thoroughness.count(quick: count / 50, push: count, nightly: count * 20)
  }

  private static let trace: Int32 = {
    guard let path = ProcessInfo.processInfo.environment["MEMOKV_FUZZ_TRACE"] else { return -1 }
    return open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
  }()

  /// Inputs of earlier findings, by name.
  package var findings: [(name: String, bytes: [UInt8])] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Fixtures/findings").standardizedFileURL
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().filter { $0.hasPrefix(target + "-") }.compactMap { name in
      let bytes = try? Data(contentsOf: folder.appendingPathComponent(name))
      return bytes.map { (name, [UInt8]($0)) }
    }
  }

  /// Tries everything; `body` gets a seed.
  package func run(_ body: (UInt64) throws -> Void) rethrows {
    for number in 0..<UInt64(count) {
      let seed = Thoroughness.seedBase &+ number
      if Self.trace >= 0 {
        let line = Array("\(target) \(seed)\n".utf8)
        _ = line.withUnsafeBytes { write(Self.trace, $0.baseAddress, $0.count) }
      }
      try body(seed)
    }
    ProofTally.count("T15", target, count)
  }
}
