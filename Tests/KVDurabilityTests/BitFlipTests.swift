import KVTestSupport
import Testing

@testable import KVEngine

/// One wrong bit in any byte of any file: right data or an error, never wrong data (promises P7,
/// P8, P10).
@Suite struct BitFlipTests {
  private static let seed: UInt64 = 10
  private static let partCount = 8

  @Test(.bug(id: "B02"), arguments: 0..<partCount)
  func aFlippedBitGivesRightDataOrAnError(part: Int) throws {
    let store = try SmallStore()
    var generator = SeededGenerator(seed: Self.seed, stream: UInt64(part))
    var (flipCount, failureCount) = (0, 0)
    for (name, bytes) in try store.files.storeFiles().sorted(by: { $0.key < $1.key }) {
      for offset in Thoroughness.part(of: 0..<bytes.count, step: 57, offset: part)
      where offset % Self.partCount == part {
        let any = Int(generator.next() % 8)
        for bit in 0..<8 where bit == any || Thoroughness.current == .nightly {
          flipCount += 1
          do {
            try check(store, name, bytes, offset: offset, bit: bit)
          } catch {
            Issue.record("seed \(Self.seed), \(name), byte \(offset), bit \(bit): \(error)")
            failureCount += 1
            if failureCount == 5 { return }
          }
        }
      }
    }
    ProofTally.count("T4", "flips", flipCount)
  }

  private func check(
    _ store: SmallStore, _ name: String, _ bytes: [UInt8], offset: Int, bit: Int
  ) throws {
    var bytes = bytes
    bytes[offset] ^= 1 << UInt8(bit)
    let files = try store.files.replacing(TinyStore.path + "/" + name, with: bytes)
    let last = store.lastIndex
    let isLog = FileName(name) == .log(store.logNumber)
    let lastRecord = store.recordEnds[store.recordEnds.count - 2]
    let isInLastRecord = isLog && (lastRecord..<(store.recordEnds.last ?? 0)).contains(offset)
    // Damage to the last record looks like a torn end: the known limit.
    let outcome = try store.read(files, allowed: (isInLastRecord ? last - 1 : last)...last)
    switch (outcome, FileName(name)) {
    case (.state(let index), .log) where isLog:
      if offset < lastRecord, !store.isPadding(offset) { throw Problem("goes unnoticed") }
      try store.use(files, at: index)
    case (.damaged, .log) where isLog:
      guard offset < lastRecord else { throw Problem("is damaged behind the last record") }
    case (.damaged, .segment(let number)) where store.segmentNumbers.contains(number):
      break
    case (.state, .segment(let number)) where store.segmentNumbers.contains(number):
      throw Problem("goes unnoticed")
    case (.state, .manifest) where offset % 8 != 0:
      break
    case (.state(let index), _):
      try store.use(files, at: index)
    case (.damaged, _):
      throw Problem("does not open although nothing that it needs is damaged")
    }
  }

  /// A wrong bit in a block hides the keys of that block and no others.
  @Test(.bug(id: "B13"), arguments: [1, 2, 3] as [UInt64])
  func aDamagedBlockHidesItsOwnKeysOnly(seed: UInt64) throws {
    let files = MemoryFileSystem()
    let database = try Database(at: TinyStore.path, in: files, options: DatabaseOptions())
    let keys = (0..<1000).map { number in Array("memo \(10_000 + number)".utf8) }
    try database.write { batch in
      for key in keys { batch.put(key + key.reversed(), forKey: key) }
    }
    try database.flush()
    try database.close()

    let path = TinyStore.path + "/000002.seg"
    var bytes = try files.bytes(of: path)
    var generator = SeededGenerator(seed: seed)
    let offset = FileHeader.byteCount + Int(generator.next() % UInt64(bytes.count / 2))
    bytes[offset] ^= 4
    let damaged = try files.replacing(path, with: bytes)
    let reopened = try Database(at: TinyStore.path, in: damaged, options: DatabaseOptions())
    var lost: [Int] = []
    for (number, key) in keys.enumerated() {
      do {
        #expect(try reopened.value(forKey: key) == key + key.reversed())
      } catch {
        guard case .damaged(let corruption) = error else { throw error }
        #expect(corruption.fileName == "000002.seg" && corruption.offset <= offset)
        lost.append(number)
      }
    }
    #expect((1...300).contains(lost.count), "seed \(seed), byte \(offset)")
    #expect(lost.last.map { $0 - lost[0] + 1 } == lost.count, "seed \(seed): neighbours")
    let report = try reopened.verify()
    #expect(report.damage.count == 1)
    // The other keys are there for scans that do not reach the block, and writing goes on.
    try reopened.write { $0.put([1], forKey: keys[lost[0]]) }
    #expect(try reopened.value(forKey: keys[lost[0]]) == [1])
    #expect(try damaged.bytes(of: path) == bytes, "nothing is repaired by itself")
  }
}
