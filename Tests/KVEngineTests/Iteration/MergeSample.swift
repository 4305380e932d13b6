import KVTestSupport

@testable import KVEngine

/// Random entries, spread over memtables and recovered logs, and the same as a sorted list.
struct MergeSample {
  let tables: [MemTable]
  let images: [LogImage]
  /// Every version, in internal key order.
  let model: [ModelEntry]
  let lastSequence: SequenceNumber

  init(seed: UInt64, spaces: [UInt8] = [64]) throws {
    var random = SeededGenerator(seed: seed)
    var tables: [MemTable] = []
    var images: [LogImage] = []
    var model: [ModelEntry] = []
    var sequence: SequenceNumber = 0
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      var log = try LogSample(lastSequence: sequence)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let (batch, entries) = randomBatch(
          count: Int.random(in: 1...10, using: &random), firstSequence: sequence + 1,
          spaces: spaces, using: &random)
        try log.append(batch)
        sequence += UInt64(entries.count)
        model += entries
      }
      images.append(try LogImage(log.read(log.bytes)))
    }
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let table = MemTable()
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let (batch, entries) = randomBatch(
          count: Int.random(in: 1...10, using: &random), firstSequence: sequence + 1,
          spaces: spaces, using: &random)
        try table.apply(
          batch.bytes.rawBytes, count: entries.count, firstSequence: sequence + 1)
        sequence += UInt64(entries.count)
        model += entries
      }
      tables.append(table)
    }
    self.tables = tables
    self.images = images
    self.model = model.sorted { $0.precedes($1) }
    lastSequence = sequence
  }

  /// A merge of all sources for one space.
  func merge(space: UInt8 = 64) -> MergingCursor {
    MergingCursor(
      tables.map { MergeSource.table($0) }
        + images.map { MergeSource.image($0, space: space) })
  }

  /// What a reader at a sequence sees inside bounds: newest versions, without deleted keys.
  func visible(
    at sequence: SequenceNumber, from lower: [UInt8], upTo upper: [UInt8]?
  ) -> [ModelEntry] {
    var newest: [ModelEntry] = []
    for entry in model where entry.sequence <= sequence && newest.last?.key != entry.key {
      newest.append(entry)
    }
    return newest.filter { entry in
      entry.kind.isPut && !entry.key.lexicographicallyPrecedes(lower)
        && upper.map { entry.key.lexicographicallyPrecedes($0) } ?? true
    }
  }
}

/// The slow model of a cursor: a list and where it stands.
struct ModelCursor {
  enum Position: Equatable {
    case unpositioned, before, behind
    case at(Int)
  }

  let entries: [ModelEntry]
  private(set) var position = Position.unpositioned

  init(_ entries: [ModelEntry]) {
    self.entries = entries
  }

  var current: ModelEntry? {
    if case .at(let index) = position { entries[index] } else { nil }
  }

  private mutating func stand(at index: Int, else outside: Position) {
    position = entries.indices.contains(index) ? .at(index) : outside
  }

  mutating func next() {
    switch position {
    case .unpositioned, .before: stand(at: 0, else: .behind)
    case .at(let index): stand(at: index + 1, else: .behind)
    case .behind: return
    }
  }

  mutating func previous() {
    switch position {
    case .unpositioned, .behind: stand(at: entries.count - 1, else: .before)
    case .at(let index): stand(at: index - 1, else: .before)
    case .before: return
    }
  }

  mutating func seek(toFirstAtOrAfter key: [UInt8]) {
    let index = entries.firstIndex { !$0.key.lexicographicallyPrecedes(key) }
    stand(at: index ?? -1, else: .behind)
  }

  mutating func seek(toLastAtOrBefore key: [UInt8]) {
    let index = entries.lastIndex { !key.lexicographicallyPrecedes($0.key) }
    stand(at: index ?? -1, else: .before)
  }
}
