import KVTestSupport
import Testing

@testable import KVEngine

/// Several sorted sources as one.
@Suite struct MergingCursorTests {
  private func entry(_ merging: borrowing MergingCursor) -> ModelEntry? {
    guard merging.isValid else { return nil }
    let source = merging.entry
    return ModelEntry(
      key: [UInt8](copying: source.key), sequence: source.tag.sequence, kind: source.tag.kind,
      value: [UInt8](copying: source.value))
  }

  private func rest(of merging: inout MergingCursor) throws -> [ModelEntry] {
    var found: [ModelEntry] = []
    while let entry = entry(merging) {
      found.append(entry)
      try merging.advance()
    }
    return found
  }

  @Test(arguments: 0..<20 as Range<UInt64>) func everyVersionComesOnceInOrderFromEveryKey(
    seed: UInt64
  ) throws {
    let sample = try MergeSample(seed: seed)
    var merging = sample.merge()
    #expect(merging.isValid == false)
    var random = SeededGenerator(seed: seed, stream: 1)
    for key in [[64], [65]] + ModelEntry.trickyKeys.map({ [64] + $0 }) {
      let sequence: SequenceNumber =
        random.coin() ? .max : UInt64.random(in: 0...sample.lastSequence, using: &random)
      try merging.seek(toFirstAtOrAfter: key, sequence: sequence)
      let behind = sample.model.filter { !$0.precedes(.place(key, sequence)) }
      #expect(try rest(of: &merging) == behind, "seed \(seed) \(key) \(sequence)")
      try merging.seek(toLastBefore: key)
      let before = sample.model.filter { $0.key.lexicographicallyPrecedes(key) }
      #expect(try rest(of: &merging) == before.reversed(), "seed \(seed) \(key)")
    }
  }

  @Test func noSourcesAndEmptySourcesHaveNoEntry() throws {
    for sources in [[], [MergeSource.table(MemTable())]] {
      var merging = MergingCursor(sources)
      try merging.seek(toFirstAtOrAfter: [64], sequence: .max)
      #expect(merging.isValid == false)
      try merging.seek(toLastBefore: [65])
      #expect(merging.isValid == false)
    }
  }
}
