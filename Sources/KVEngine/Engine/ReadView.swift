// What one reader sees. A view never changes: its memtables grow, but above its sequence nothing
// exists for it, and its segments stay. A snapshot is a view that somebody holds, so neither flush
// nor compaction has to ask which old versions are still needed: whoever needs them holds the
// tables and segments that have them.

/// Everything that a read at one moment needs.
///
/// Immutable.
package final class ReadView: Sendable {
  /// Memtables of this process, newest first.
  package let tables: [MemTable]
  /// Recovered logs, newest first.
  package let images: [LogImage]
  package let version: Version
  /// Writes above it do not exist for this view.
  package let sequence: SequenceNumber
  /// Live keys of the counted spaces, by code.
  package let counts: SpaceCounts
  /// User spaces by name.
  package let spaces: [NamedSpace]
  /// What reads of this handle have learnt about stretches without a visible key.
  package let gaps: GapNotes?
  private let isPinned = Lock(false)

  package init(
    tables: [MemTable], images: [LogImage], version: Version, sequence: SequenceNumber,
    counts: SpaceCounts, spaces: [NamedSpace], gaps: GapNotes?
  ) {
    self.gaps = gaps
    self.tables = tables
    self.images = images
    self.version = version
    self.sequence = sequence
    self.counts = counts
    self.spaces = spaces
  }

  /// The view of a store that does not exist yet.
  package static var empty: ReadView {
    ReadView(
      tables: [], images: [], version: Version([]), sequence: 0, counts: SpaceCounts(), spaces: [],
      gaps: nil)
  }

  /// Opens all files, so that the view can be read to its end though others remove them.
  ///
  /// - Throws: As the opening of any of them.
  /// - Complexity: O(segments) the first time, O(1) after it.
  package func pin() throws(DatabaseError) {
    if isPinned.withLock({ $0 }) { return }
    for segment in version.segments { try segment.pin() }
    isPinned.withLock { $0 = true }
  }

  /// The same tables and segments at a later moment.
  package func advanced(to sequence: SequenceNumber, counts: SpaceCounts) -> ReadView {
    ReadView(
      tables: tables, images: images, version: version, sequence: sequence, counts: counts,
      spaces: spaces, gaps: gaps)
  }
}

extension ReadView {
  /// Sources of one space's entries inside bounds.
  ///
  /// Segments without an entry newer than `oldest` are left out.
  func sources(
    space: UInt8, lower: [UInt8], upper: [UInt8]?,
    newerThan oldest: SequenceNumber? = nil
  ) -> [MergeSource] {
    var sources = tables.map { MergeSource.table($0) }
    sources += images.map { MergeSource.image($0, space: space) }
    let candidates = version.candidates(from: lower, upTo: upper, newerThan: oldest)
    sources += candidates.map { MergeSource.segment($0.segment, bounds: $0.bounds) }
    return sources
  }

  /// The live keys of one space inside bounds.
  package func cursor(
    space: UInt8, lower: [UInt8], upper: [UInt8]?
  ) -> VisibleCursor {
    VisibleCursor(
      MergingCursor(sources(space: space, lower: lower, upper: upper)),
      lower: lower, upper: upper, sequence: sequence, gaps: gaps)
  }

  /// The live keys of one space that begin with a prefix (with its space byte).
  ///
  /// - Complexity: As a cursor's, without the segments whose filter does not admit the prefix.
  package func cursor(
    withPrefix prefix: [UInt8], upper: [UInt8]?
  ) throws(DatabaseError) -> VisibleCursor {
    let space = prefix[0]
    var sources = tables.map { MergeSource.table($0) }
    sources += images.map { MergeSource.image($0, space: space) }
    for (segment, bounds) in version.candidates(from: prefix, upTo: upper) {
      guard try segment.reader().mayContain(prefix: prefix.rawBytes) else { continue }
      sources.append(.segment(segment, bounds: bounds, access: .point))
    }
    return VisibleCursor(
      MergingCursor(sources), lower: prefix, upper: upper, sequence: sequence)
  }

  /// The newest entry of a key (with its space byte) that this view sees, deletions included.
  ///
  /// A candidate segment is read only while it may hold something newer than what was found;
  /// segments without an entry newer than `oldest` are left out.
  ///
  /// - Complexity: O(log *m*) comparisons in memory plus one block read for each segment whose
  ///   bounds and filter admit the key.
  package func newestEntry(
    of key: [UInt8], newerThan oldest: SequenceNumber? = nil
  ) throws(DatabaseError) -> (tag: EntryTag, value: [UInt8])? {
    guard let space = key.first else { return nil }
    for table in tables {
      var cursor = MemTableCursor(table)
      cursor.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
      if let found = value(at: cursor.entry, ifOf: key) { return found }
    }
    for image in images {
      var cursor = LogImageCursor(image, space: space)
      cursor.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
      if let found = value(at: cursor.entry, ifOf: key) { return found }
    }
    var newest: (tag: EntryTag, value: [UInt8])?
    for segment in version.segments {
      let highest = segment.descriptor.highestSequence
      if let oldest, highest <= oldest { break }
      if let newest, highest <= newest.tag.sequence { break }
      guard segment.descriptor.spans(key) else { continue }
      let reader = try segment.reader()
      guard let found = try reader.find(key: key.rawBytes, atOrBelow: sequence) else { continue }
      if found.tag.sequence >= (newest?.tag.sequence ?? 0) { newest = (found.tag, found.value) }
    }
    return newest
  }

  /// A copy of what a cursor, which is still there, stands at.
  private func value(
    at entry: EntryReference?, ifOf key: [UInt8]
  ) -> (tag: EntryTag, value: [UInt8])? {
    guard let entry, compareBytes(entry.key, key) == 0 else { return nil }
    return (entry.tag, entry.tag.kind.isPut ? [UInt8](copying: entry.value) : [])
  }

  /// Whether an entry newer than a sequence exists under any key with a prefix.
  ///
  /// - Complexity: O(entries under the prefix) in memory; segments without newer entries are not
  ///   opened.
  package func hasEntry(
    withPrefix prefix: [UInt8], newerThan oldest: SequenceNumber
  ) throws(DatabaseError) -> Bool {
    guard let space = prefix.first else { return false }
    let newer = sources(
      space: space, lower: prefix, upper: prefix.prefixSuccessor,
      newerThan: oldest)
    for source in newer {
      var cursor = SourceCursor(source)
      try cursor.seek(toFirstAtOrAfter: prefix, sequence: .max)
      try cursor.resolve()
      while cursor.isValid, cursor.entry.key.starts(with: prefix.rawBytes) {
        if cursor.entry.tag.sequence > oldest { return true }
        try cursor.next()
      }
    }
    return false
  }
}
