import Foundation
import KVEngine
import KVTestSupport
import Testing

@testable import KVInspectCore

/// Everything at once on one store, with limits so small that borders are frequent: T12 of the test
/// plan.
///
/// Runs as many seconds as `MEMOKV_STRESS_SECONDS` says.
@Suite(.serialized) struct StressTests {
  private static let seconds: Int = {
    let named = ProcessInfo.processInfo.environment["MEMOKV_STRESS_SECONDS"].flatMap { Int($0) }
    return named ?? Thoroughness.count(quick: 3, push: 5, nightly: 300)
  }()
  private static let writerCount = 2
  private static let keyCount: UInt8 = 8
  /// There after an even batch of its writer only.
  private static let everyOther: UInt8 = 100

  private static var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.logByteCount = 8 << 10
    options.segmentByteCount = 16 << 10
    options.blockByteCount = 256
    options.zeroStepByteCount = 4096
    options.cacheByteCount = 8 << 10
    return options
  }

  /// One batch: all keys of the writer say its number.
  private static func write(
    _ number: UInt32, of writer: UInt8, to database: Database,
    using generator: inout SeededGenerator
  ) throws {
    let padding = [UInt8](repeating: writer, count: Int.random(in: 0...120, using: &generator))
    let value = withUnsafeBytes(of: number.bigEndian) { Array($0) } + padding
    let isLazy = Int.random(in: 0..<4, using: &generator) != 0
    try database.write(durability: isLazy ? .lazy : .full) { batch in
      for key in 0..<keyCount { batch.put(value, forKey: [writer, key]) }
      if number % 2 == 0 {
        batch.put(value, forKey: [writer, everyOther])
      } else {
        batch.delete([writer, everyOther])
      }
    }
  }

  /// The newest batch of each writer that a snapshot shows, after a check of all it shows.
  private static func numbers(in snapshot: Snapshot) throws -> [UInt32] {
    var cursor = try snapshot.cursor()
    var entries: [Cursor.Entry] = []
    while let entry = try cursor.next() { entries.append(entry) }
    var backward = try snapshot.cursor()
    var mirrored: [Cursor.Entry] = []
    while let entry = try backward.previous() { mirrored.append(entry) }
    guard mirrored.reversed() == entries else { throw Problem("backward is not forward reversed") }
    return try (0..<UInt8(writerCount)).map { writer in
      let own = entries.filter { $0.key[0] == writer }
      let numbers = Set(own.map { $0.value.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } })
      guard let number = numbers.first else { return 0 }
      let expected = (0..<keyCount).map { [writer, $0] }
      let other = number % 2 == 0 ? [[writer, everyOther]] : []
      guard numbers.count == 1, own.map(\.key) == expected + other else {
        throw Problem("writer \(writer): parts of batches \(numbers.sorted())")
      }
      let key = [writer, keyCount - 1]
      let value = try snapshot.value(forKey: key)
      guard value == own.first(where: { $0.key == key })?.value else {
        let found = value.map { "\($0.prefix(4)), \($0.count) bytes" } ?? "nothing"
        throw Problem("writer \(writer): a look-up finds \(found) of \(number) in the scan")
      }
      return number
    }
  }

  private struct Problem: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  /// What the threads share.
  private final class Bed: Sendable {
    let directory: TemporaryDirectory
    let path: String
    let database: Database
    let findings = Findings()
    /// Acknowledged by each writer, durable or not.
    let written = Lock([UInt32](repeating: 0, count: writerCount))
    let end = ContinuousClock.now + .seconds(seconds)

    init() throws {
      directory = try TemporaryDirectory()
      path = directory.path("store")
      database = try Database(at: path, options: options)
    }

    var isOver: Bool { ContinuousClock.now >= end || !findings.all.isEmpty }
    /// Copied number by number: a copy of the array would share its memory with the one that is
    /// written on, which the thread sanitizer takes for a race.
    var writtenNumbers: [UInt32] { written.withLock { numbers in numbers.map { $0 } } }
  }

  private static func runWriter(_ writer: Int, _ bed: Bed) throws {
    var generator = SeededGenerator(seed: UInt64(writer))
    var number: UInt32 = 0
    while !bed.isOver {
      number += 1
      try write(number, of: UInt8(writer), to: bed.database, using: &generator)
      bed.written.withLock { $0[writer] = number }
    }
  }

  /// Reads what was written before at least, and never less than the last time.
  private static func runReader(_ reader: Int, _ bed: Bed) throws {
    var last = [UInt32](repeating: 0, count: writerCount)
    while !bed.isOver {
      let written = bed.writtenNumbers
      let snapshot = try bed.database.snapshot()
      let found = try numbers(in: snapshot)
      bed.findings.check(
        zip(found, written).allSatisfy { $0 >= $1 } && zip(found, last).allSatisfy { $0 >= $1 },
        "reader \(reader) saw \(found) after \(last), written \(written)")
      bed.findings.check(try numbers(in: snapshot) == found, "reader \(reader): snapshot changed")
      last = found
    }
  }

  /// Flushes, merges, copies, gives memory back, is suspended.
  private static func runMaintenance(_ bed: Bed) throws {
    var round = 0
    while !bed.isOver {
      round += 1
      switch round % 5 {
      case 0: try bed.database.compact()
      case 1: try bed.database.flush()
      case 2: try bed.database.releaseMemory()
      case 3:
        let copy = bed.directory.path("copy-\(round)")
        try bed.database.checkpoint(to: copy)
        let opened = try Database(at: copy, options: options)
        _ = try numbers(in: try opened.snapshot())
        try opened.close()
      default:
        bed.findings.check(try bed.database.verify().isSound, "round \(round) is not sound")
      }
    }
  }

  /// Handles that only read, as another process has them, and the inspector.
  private static func runGuests(_ bed: Bed) throws {
    var options = options
    options.isReadOnly = true
    let commands = [["summary"], ["space"], ["segments"], ["log"], ["manifest"]]
    var round = 0
    while !bed.isOver {
      round += 1
      let guest = try Database(at: bed.path, options: options)
      let first = try numbers(in: try guest.snapshot())
      let words = commands[round % commands.count] + [bed.path]
      let run = try InspectorRun(words)
      bed.findings.check(run.code == .fine, "\(words): \(run.outputText) \(run.errorText)")
      let second = try numbers(in: try guest.snapshot())
      bed.findings.check(zip(second, first).allSatisfy { $0 >= $1 }, "\(second) after \(first)")
      try guest.close()
    }
  }

  @Test func everythingAtOnce() throws {
    let bed = try Bed()
    try bed.database.write { $0.put([1], forKey: [255]) }
    try bed.database.write { $0.delete([255]) }
    onThreads(Self.writerCount + 4 + 2) { thread in
      bed.findings.catching("thread \(thread)") {
        switch thread {
        case 0..<Self.writerCount: try Self.runWriter(thread, bed)
        case Self.writerCount..<Self.writerCount + 4: try Self.runReader(thread, bed)
        case Self.writerCount + 4: try Self.runMaintenance(bed)
        default: try Self.runGuests(bed)
        }
      }
    }
    #expect(bed.findings.all == [])
    let written = bed.writtenNumbers
    #expect(try Self.numbers(in: try bed.database.snapshot()) == written)
    #expect(written.allSatisfy { $0 > 10 }, "\(written)")
    try bed.database.close()
    let again = try Database(at: bed.path, options: Self.options)
    #expect(try Self.numbers(in: try again.snapshot()) == written)
    #expect(try again.verify().isSound)
    try again.close()
    ProofTally.count("T12", "batches", written.reduce(0) { $0 + Int($1) })
  }
}
