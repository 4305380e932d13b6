/// One segment file, open for reading.
///
/// Nothing is read until something is asked for. Footer, properties, index and filters are read
/// once, each when first needed, and kept. Threads may share a reader. It reads outside its lock,
/// so two threads may load the same thing at the same time, once.
package final class SegmentReader: Sendable {
  private struct State {
    var isHeaderVerified = false
    var footer: SegmentFooter?
    var properties: Properties?
    var index: IndexBlock?
    /// Of few spaces; one without filter is known as such.
    var filters: [(spaceCode: UInt8, filter: BloomFilter?)] = []
  }

  /// An entry that a search found.
  package struct Found: Equatable, Sendable {
    package let tag: EntryTag
    package let value: [UInt8]
  }

  let file: SegmentFile
  private let cache: BlockCache?
  private let state = Lock(State())

  /// Makes a reader of an open file that has to be the segment that `reference` names.
  package init(
    file: any File, fileName: String, reference: SegmentReference, cache: BlockCache? = nil
  ) {
    self.file = SegmentFile(file: file, name: fileName, reference: reference)
    self.cache = cache
  }

  // MARK: Searching

  /// The newest entry of a key that is not newer than a sequence; `nil` if there is none.
  ///
  /// - Complexity: O(log *b* + log *e*) comparisons for *b* blocks of *e* entries; at most one read
  ///   once index and filter are loaded.
  package func find(
    key: RawSpan, atOrBelow sequence: SequenceNumber
  ) throws(DatabaseError) -> Found? {
    guard try mayContain(key: key) else { return nil }
    let index = try index()
    let entry: IndexEntry
    do throws(FormatError) {
      guard let found = try index.entry(forFirstAtOrAfter: key, sequence) else { return nil }
      entry = found
    } catch {
      throw file.damage(error, inBlockAt: index.offset)
    }
    let block = try block(at: entry.handle)
    do throws(FormatError) {
      guard let match = try block.firstEntry(atOrAfter: key, sequence) else {
        throw block.failure("ends before its key in the index", at: block.entries.upperBound)
      }
      guard match.hasSameKey else { return nil }
      let value = block.buffer.bytes.extracting(match.entry.value)
      return Found(tag: match.entry.tag, value: [UInt8](copying: value))
    } catch {
      throw file.damage(error, inBlockAt: entry.handle.offset)
    }
  }

  /// Whether the segment may hold entries of a key; a `false` is certain.
  package func mayContain(key: RawSpan) throws(DatabaseError) -> Bool {
    guard let filter = try filter(ofSpaceOf: key) else { return true }
    return filter.mayContain(key: key)
  }

  /// Whether the segment may hold keys that begin with a prefix; a `false` is certain.
  package func mayContain(prefix: RawSpan) throws(DatabaseError) -> Bool {
    guard let filter = try filter(ofSpaceOf: prefix) else { return true }
    return filter.mayContain(prefix: prefix)
  }

  // MARK: Parts

  /// What is known of the segment without reading its data.
  package func properties() throws(DatabaseError) -> Properties {
    if let properties = state.withLock({ $0.properties }) { return properties }
    let footer = try footer()
    if let properties = state.withLock({ $0.properties }) { return properties }
    var window = FrameWindow()
    try window.read(footer.properties.range, of: file)
    let properties = try file.decodeProperties(footer.properties, window)
    state.withLock { $0.properties = properties }
    return properties
  }

  /// The index.
  package func index() throws(DatabaseError) -> IndexBlock {
    if let index = state.withLock({ $0.index }) { return index }
    let footer = try footer()
    if let index = state.withLock({ $0.index }) { return index }
    var window = FrameWindow()
    try window.read(footer.index.range, of: file)
    let index = try file.decodeIndex(footer.index, window)
    state.withLock { $0.index = index }
    return index
  }

  /// Whether the index was loaded already.
  var hasIndex: Bool { state.withLock { $0.index != nil } }

  /// A data block, from the cache or from the file and then in the cache.
  func block(at handle: BlockHandle) throws(DatabaseError) -> Block {
    let number = file.reference.number
    if let buffer = cache?.block(segment: number, offset: handle.offset) {
      return try file.dataBlock(buffer, at: handle.offset)
    }
    var window = FrameWindow()
    try window.read(handle.range, of: file)
    let buffer = try window.block(handle, .data, of: file)
    let block = try file.dataBlock(buffer, at: handle.offset)
    cache?.insert(buffer, segment: number, offset: handle.offset)
    return block
  }

  /// Checks the header in a window on the file's first bytes.
  func checkHeader(in window: FrameWindow) throws(DatabaseError) {
    try file.checkHeader(in: window)
    state.withLock { $0.isHeaderVerified = true }
  }

  /// The footer; the read that brings it often brings properties and index, too.
  private func footer() throws(DatabaseError) -> SegmentFooter {
    let (loaded, isHeaderVerified) = state.withLock { ($0.footer, $0.isHeaderVerified) }
    if let loaded { return loaded }
    let end = file.frameLimit + SegmentFooter.byteCount
    var window = FrameWindow()
    if !isHeaderVerified, end > Limits.Block.firstReadByteCount {
      try window.read(0..<FileHeader.byteCount, of: file)
      try checkHeader(in: window)
    }
    try window.read(max(0, end - Limits.Block.firstReadByteCount)..<end, of: file)
    if window.range.lowerBound == 0 { try checkHeader(in: window) }
    let footer = try file.decodeFooter(in: window)
    // Damage of one is for those to hear of who ask for it.
    let properties =
      window.contains(footer.properties.range)
      ? try? file.decodeProperties(footer.properties, window) : nil
    let index =
      window.contains(footer.index.range) ? try? file.decodeIndex(footer.index, window) : nil
    state.withLock { state in
      state.footer = footer
      if let properties { state.properties = properties }
      if let index { state.index = index }
    }
    return footer
  }

  /// The filter of the space that a key or prefix is in, `nil` if that space has none.
  private func filter(ofSpaceOf key: RawSpan) throws(DatabaseError) -> BloomFilter? {
    guard let code = key.first else { return nil }
    let known = state.withLock { $0.filters.first { $0.spaceCode == code } }
    if let known { return known.filter }
    let filter = try loadFilter(code)
    state.withLock { state in
      // Another thread may have loaded it meanwhile.
      if state.filters.allSatisfy({ $0.spaceCode != code }) { state.filters.append((code, filter)) }
    }
    return filter
  }

  private func loadFilter(_ code: UInt8) throws(DatabaseError) -> BloomFilter? {
    guard let filter = try properties().filters.first(where: { $0.spaceCode == code }) else {
      return nil
    }
    return try file.readFilter(filter)
  }
}
