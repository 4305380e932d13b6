internal import KVEngine
internal import MemoCore

/// A key, or what several keys begin with, looked for in every file of a store.
struct KeySearch {
  /// What is looked for, in words.
  let title: String
  /// With the space byte.
  let key: [UInt8]
  /// Whether every key that begins with ``key`` counts.
  let isPrefix: Bool

  var spaceCode: UInt8 { key.first ?? 0 }

  func matches(_ found: RawSpan) -> Bool {
    guard found.byteCount >= key.count, isPrefix || found.byteCount == key.count else {
      return false
    }
    return compareBytes(found.extracting(first: key.count), key) == 0
  }

  /// Why a file has no entry of the key.
  enum Absence: String {
    /// The MANIFEST says that nothing of the space is in it.
    case otherSpaces
    /// The key is outside of what the MANIFEST says of the space.
    case outsideBounds
    /// The filter says that it is not there.
    case filtered
    /// It was looked for and is not there.
    case notFound
    /// Nothing was found before the damage.
    case unreadable
  }

  struct Entry {
    let key: [UInt8]
    let tag: EntryTag
    let valueByteCount: Int
    /// Where the record (log) or the frame of the block (segment) begins.
    let offset: Int
  }

  /// What one file says.
  struct Place {
    let fileName: String
    /// Newest first.
    var entries: [Entry] = []
    var absence: Absence?
    /// The block that was searched in vain.
    var searchedOffset: Int?
    var damage = DamageNotes()

    init(_ fileName: String) {
      self.fileName = fileName
    }
  }

  /// What all files say, in the order in which a read looks at them.
  struct Findings {
    let search: KeySearch
    let places: [Place]

    var entries: [Entry] { places.flatMap(\.entries) }
    /// The entry that decides what a read sees of a key.
    var newest: Entry? { entries.max { $0.tag.sequence < $1.tag.sequence } }
  }

  // MARK: Searching

  /// Looks into every log and segment.
  func findings(
    in store: StoreReading, logs: [LogReading], _ damage: inout DamageNotes
  ) throws(DatabaseError) -> Findings {
    var places = logs.reversed().map { place(in: $0) }
    let newestFirst = store.manifest.segments.sorted { $0.highestSequence > $1.highestSequence }
    for descriptor in newestFirst { places.append(try place(in: descriptor, of: store)) }
    for place in places { damage.add(place.damage.corruptions) }
    return Findings(search: self, places: places)
  }

  private func place(in log: LogReading) -> Place {
    var place = Place(log.fileName)
    place.damage = log.damage
    if let image = log.image, let contents = log.contents {
      var cursor = LogImageCursor(image, space: spaceCode)
      let wanted = key
      cursor.seek(toFirstAtOrAfter: wanted.rawBytes, sequence: Limits.Sequence.maximum)
      while cursor.isValid, matches(cursor.key) {
        let sequence = cursor.tag.sequence
        let record = contents.records.first { $0.head.lastSequence >= sequence }
        place.entries.append(
          Entry(
            key: [UInt8](copying: cursor.key), tag: cursor.tag,
            valueByteCount: cursor.value.byteCount, offset: record?.offset ?? 0))
        cursor.next()
      }
    }
    if place.entries.isEmpty { place.absence = log.damage.isEmpty ? .notFound : .unreadable }
    return place
  }

  private func place(
    in descriptor: SegmentDescriptor, of store: StoreReading
  ) throws(DatabaseError) -> Place {
    var place = Place(descriptor.fileName)
    guard let bounds = descriptor.bounds(ofSpace: spaceCode) else {
      place.absence = .otherSpaces
      return place
    }
    let lower = isPrefix ? Array(bounds.lower.prefix(key.count)) : bounds.lower
    guard compareBytes(lower, key) <= 0, compareBytes(bounds.upper, key) >= 0 else {
      place.absence = .outsideBounds
      return place
    }
    // Filled as far as the search comes.
    var found = place
    try place.damage.noting { () throws(DatabaseError) in
      try search(
        SegmentReader(
          file: try store.open(.segment(descriptor.number)), fileName: descriptor.fileName,
          reference: descriptor.reference), &found)
    }
    found.damage = place.damage
    if found.entries.isEmpty, !found.damage.isEmpty { found.absence = .unreadable }
    return found
  }

  private func search(
    _ reader: SegmentReader, _ place: inout Place
  ) throws(DatabaseError) {
    let wanted = key
    let mayContain =
      isPrefix
      ? try reader.mayContain(prefix: wanted.rawBytes) : try reader.mayContain(key: wanted.rawBytes)
    guard mayContain else {
      place.absence = .filtered
      return
    }
    var cursor = SegmentCursor(reader, access: .point)
    try cursor.seek(toFirstAtOrAfter: wanted.rawBytes)
    if cursor.isValid { place.searchedOffset = cursor.frame.lowerBound }
    while cursor.isValid, matches(cursor.key) {
      place.entries.append(
        Entry(
          key: [UInt8](copying: cursor.key), tag: cursor.tag,
          valueByteCount: cursor.value.byteCount, offset: cursor.frame.lowerBound))
      try cursor.next()
    }
    if place.entries.isEmpty { place.absence = .notFound }
  }
}
