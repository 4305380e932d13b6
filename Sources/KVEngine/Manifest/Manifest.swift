// FORMAT.md section 9. The whole state of a store as one value.

/// What a MANIFEST says of one space in one segment.
package struct SpaceBounds: Hashable, Sendable {
  package let code: UInt8
  /// At most every key of the space in the segment (with the space byte).
  package let lower: [UInt8]
  /// At least every key of the space in the segment.
  package let upper: [UInt8]
  package let entryCount: Int
  package let tombstoneCount: Int
  /// Sum of the changes of the entries: how the segment changes the number of live keys.
  package let change: Int
  /// Bytes of the space's blocks in the file.
  package let byteCount: Int
}

/// A live segment.
package struct SegmentDescriptor: Hashable, Sendable {
  package let number: UInt64
  package let identity: StoreIdentity
  package let byteCount: Int
  package let footerChecksum: UInt32
  /// Which tier of sizes the segment belongs to; 0 is what a flush makes.
  package let tier: Int
  /// Whether the segment was written densely: there is no need to merge it for that sake.
  package var isDense = false
  /// When the oldest of its tombstones was flushed, microseconds since 1970; 0 without tombstones.
  package var tombstonesSince: Int64 = 0
  package let lowestSequence: SequenceNumber
  package let highestSequence: SequenceNumber
  /// Ascending by code.
  package let spaces: [SpaceBounds]

  package func bounds(ofSpace code: UInt8) -> SpaceBounds? {
    spaces.first { $0.code == code }
  }
}

extension SegmentDescriptor {
  /// Whether a key (with its space byte) lies within the bounds of its space.
  package func spans(_ key: [UInt8]) -> Bool {
    spaces.contains {
      $0.code == key.first && compareBytes($0.lower, key) <= 0 && compareBytes(key, $0.upper) <= 0
    }
  }

  /// The name of the segment's file.
  package var fileName: String { FileName.segment(number).text }

  /// What names the segment and proves that a file is it.
  package var reference: SegmentReference {
    SegmentReference(
      number: number, identity: identity, byteCount: byteCount, footerChecksum: footerChecksum)
  }

  /// What a MANIFEST says of a segment that was just written.
  package init(
    _ summary: SegmentSummary, tier: Int, isDense: Bool = false, tombstonesSince: Int64 = 0
  ) {
    self.init(
      number: summary.number, identity: summary.identity, byteCount: summary.byteCount,
      footerChecksum: summary.footerChecksum, tier: tier, isDense: isDense,
      tombstonesSince: tombstonesSince, lowestSequence: summary.lowestSequence,
      highestSequence: summary.highestSequence,
      spaces: summary.spaces.map(SpaceBounds.init))
  }
}

extension SpaceBounds {
  /// Bounds longer than the MANIFEST keeps are widened to its length: the lower one is cut, the
  /// upper one is cut and raised.
  init(_ space: SpaceSummary) {
    let maximum = Limits.Manifest.boundByteCount
    let upper =
      space.lastKey.count <= maximum
      ? space.lastKey
      : Array(space.lastKey.prefix(maximum)).prefixSuccessor
        ?? Array(space.lastKey.prefix(maximum))
    self.init(
      code: space.code, lower: Array(space.firstKey.prefix(maximum)), upper: upper,
      entryCount: space.entryCount, tombstoneCount: space.tombstoneCount, change: space.change,
      byteCount: space.byteCount)
  }
}

/// A user space and the name the app knows it by.
package struct NamedSpace: Equatable, Sendable {
  package let code: UInt8
  package let name: [UInt8]

  package init(code: UInt8, name: [UInt8]) {
    self.code = code
    self.name = name
  }
}

/// The state of a store: which files are live and what is in them.
///
/// Invariants (checked by ``decode(_:)`` and before a publish):
///  - M1: segment and log numbers are unique and below `nextFileNumber`;
///  - M2: every sequence up to `flushedSequence` is in a segment, none above it;
///  - M3: logs ascend by number; the first continues at `flushedSequence`;
///  - M4: names and codes of user spaces are unique.
package struct Manifest: Equatable, Sendable {
  package var store: StoreIdentity
  /// Counts publishes from 1.
  package var generation: UInt64
  /// Wall clock of the publish, microseconds since 1970; says how long files are out of use.
  package var publishedAt: Int64
  package var flushedSequence: SequenceNumber
  package var nextFileNumber: UInt64
  package var logs: [UInt64]
  package var segments: [SegmentDescriptor]
  package var spaces: [NamedSpace]

  /// The files that are live.
  package var fileNames: Set<FileName> {
    Set(logs.map(FileName.log)).union(segments.map { .segment($0.number) })
  }
}

// MARK: - Encoding

extension Manifest {
  /// Both copies are padded to this, so that one torn sector cannot reach into the other copy.
  private static let alignment = 512
  /// The only flag of a segment so far; others are refused.
  private static let denseFlag: UInt64 = 1

  /// The file's bytes: the same copy twice.
  package func encode() -> [UInt8] {
    var body: [UInt8] = []
    body.append(zigzag: publishedAt)
    body.append(varint: flushedSequence)
    body.append(varint: nextFileNumber)
    body.append(varint: UInt64(logs.count))
    for log in logs { body.append(varint: log) }
    body.append(varint: UInt64(segments.count))
    for segment in segments { Self.append(segment, to: &body) }
    body.append(varint: UInt64(spaces.count))
    for space in spaces {
      body.append(space.code)
      body.append(varint: UInt64(space.name.count))
      body.append(contentsOf: space.name)
    }
    var copy = FileHeader(kind: .manifest, identity: store, number: generation).encode()
    copy.append(u32: UInt32(body.count))
    copy.append(contentsOf: body)
    copy.append(u32: CRC32C.checksum(copy.rawBytes))
    copy.pad(toMultipleOf: Self.alignment)
    return copy + copy
  }

  private static func append(_ segment: SegmentDescriptor, to body: inout [UInt8]) {
    body.append(varint: segment.number)
    body.append(u64: segment.identity.high)
    body.append(u64: segment.identity.low)
    body.append(varint: UInt64(segment.byteCount))
    body.append(u32: segment.footerChecksum)
    body.append(varint: UInt64(segment.tier))
    body.append(varint: segment.isDense ? Self.denseFlag : 0)
    body.append(zigzag: segment.tombstonesSince)
    body.append(varint: segment.lowestSequence)
    body.append(varint: segment.highestSequence)
    body.append(varint: UInt64(segment.spaces.count))
    for space in segment.spaces {
      body.append(space.code)
      body.append(varint: UInt64(space.lower.count))
      body.append(contentsOf: space.lower)
      body.append(varint: UInt64(space.upper.count))
      body.append(contentsOf: space.upper)
      body.append(varint: UInt64(space.entryCount))
      body.append(varint: UInt64(space.tombstoneCount))
      body.append(zigzag: Int64(space.change))
      body.append(varint: UInt64(space.byteCount))
    }
  }

  /// Decodes the first copy that verifies.
  ///
  /// - Throws: What is wrong with the first copy when neither verifies.
  package static func decode(
    _ bytes: RawSpan, fileName: String
  ) throws(DatabaseError) -> Manifest {
    do throws(DatabaseError) {
      return try copy(0, of: bytes, fileName: fileName)
    } catch {
      guard case .damaged = error else { throw error }
      do throws(DatabaseError) {
        return try copy(1, of: bytes, fileName: fileName)
      } catch let second {
        // A copy of another version says more than a damaged one.
        if case .damaged = second { throw error }
        throw second
      }
    }
  }

  /// The copies that do not verify, for a verification.
  package static func damagedCopies(_ bytes: RawSpan, fileName: String) -> [Corruption] {
    var damage: [Corruption] = []
    for index in 0..<2 {
      do throws(DatabaseError) {
        _ = try copy(index, of: bytes, fileName: fileName)
      } catch {
        if case .damaged(let corruption) = error { damage.append(corruption) }
      }
    }
    return damage
  }

  private static func copy(
    _ index: Int, of bytes: RawSpan, fileName: String
  ) throws(DatabaseError) -> Manifest {
    // The first copy is found without the file's length, so it survives whatever became of that.
    let start = index == 0 ? 0 : bytes.byteCount / 2
    do throws(DatabaseError) {
      return try decodeCopy(bytes.extracting(droppingFirst: start), fileName: fileName)
    } catch {
      guard case .damaged(let found) = error else { throw error }
      throw .damaged(
        Corruption(
          fileName: found.fileName, offset: found.offset + start,
          structure: found.structure, reason: found.reason))
    }
  }

  /// Decodes the copy that the bytes begin with.
  private static func decodeCopy(
    _ copy: RawSpan, fileName: String
  ) throws(DatabaseError) -> Manifest {
    let header = try FileHeader.read(copy, kind: .manifest, fileName: fileName)
    do throws(FormatError) {
      var reader = ByteReader(copy, structure: "MANIFEST")
      try reader.skip(FileHeader.byteCount)
      let bodyByteCount = Int(try reader.u32())
      let bodyOffset = reader.offset
      try reader.skip(bodyByteCount)
      let covered = copy.extracting(first: bodyOffset + bodyByteCount)
      guard try reader.u32() == CRC32C.checksum(covered) else {
        throw reader.failure("checksum does not match")
      }
      let padding = (Self.alignment - reader.offset % Self.alignment) % Self.alignment
      try reader.zeros(min(padding, reader.remaining))
      return try decodeBody(
        copy.extracting(bodyOffset..<(bodyOffset + bodyByteCount)), header: header)
    } catch {
      throw .damaged(Corruption(error, fileName: fileName))
    }
  }

  private static func decodeBody(
    _ body: RawSpan, header: FileHeader
  ) throws(FormatError) -> Manifest {
    var reader = ByteReader(body, structure: "MANIFEST")
    let publishedAt = try reader.zigzag()
    let flushedSequence = try reader.varint()
    let nextFileNumber = try reader.varint()
    var logs: [UInt64] = []
    for _ in 0..<(try reader.count(maximum: Limits.Manifest.maximumLogCount)) {
      logs.append(try reader.varint())
    }
    var segments: [SegmentDescriptor] = []
    for _ in 0..<(try reader.count(maximum: Limits.Manifest.maximumSegmentCount)) {
      segments.append(try segment(from: &reader))
    }
    var spaces: [NamedSpace] = []
    for _ in 0..<(try reader.count(maximum: Int(UInt8.max))) {
      let code = try reader.u8()
      let count = try reader.count(maximum: Limits.Space.nameMaximumByteCount)
      spaces.append(NamedSpace(code: code, name: try reader.takeArray(count)))
    }
    guard reader.isAtEnd else { throw reader.failure("bytes behind the last field") }
    let manifest = Manifest(
      store: header.identity, generation: header.number, publishedAt: publishedAt,
      flushedSequence: flushedSequence, nextFileNumber: nextFileNumber, logs: logs,
      segments: segments, spaces: spaces)
    if let broken = manifest.brokenInvariant { throw reader.failure(broken) }
    guard (1..<Limits.Manifest.numberBound).contains(manifest.generation),
      nextFileNumber < Limits.Manifest.numberBound,
      publishedAt.magnitude < Limits.Manifest.numberBound
    else { throw reader.failure("a number is larger than any that is reached") }
    return manifest
  }

  @_lifetime(reader: copy reader)
  private static func segment(
    from reader: inout ByteReader
  ) throws(FormatError) -> SegmentDescriptor {
    let number = try reader.varint()
    let identity = StoreIdentity(high: try reader.u64(), low: try reader.u64())
    let byteCount = try reader.count(maximum: Limits.Segment.maximumByteCount)
    let footerChecksum = try reader.u32()
    let tier = try reader.count(maximum: Int(UInt8.max))
    let flags = try reader.count(maximum: Int(denseFlag))
    let tombstonesSince = try reader.zigzag()
    let lowest = try reader.varint()
    let highest = try reader.varint()
    var spaces: [SpaceBounds] = []
    for _ in 0..<(try reader.count(maximum: Int(UInt8.max))) {
      let code = try reader.u8()
      let lower = try reader.takeArray(try reader.count(maximum: Limits.Manifest.boundByteCount))
      let upper = try reader.takeArray(try reader.count(maximum: Limits.Manifest.boundByteCount))
      spaces.append(
        SpaceBounds(
          code: code, lower: lower, upper: upper,
          entryCount: try reader.count(maximum: Int(UInt32.max)),
          tombstoneCount: try reader.count(maximum: Int(UInt32.max)),
          change: Int(try reader.zigzag()),
          byteCount: try reader.count(maximum: Limits.Segment.maximumByteCount)))
    }
    return SegmentDescriptor(
      number: number, identity: identity, byteCount: byteCount, footerChecksum: footerChecksum,
      tier: tier, isDense: flags == denseFlag, tombstonesSince: tombstonesSince,
      lowestSequence: lowest, highestSequence: highest, spaces: spaces)
  }

  /// The invariant that does not hold, in words; `nil` when all do.
  package var brokenInvariant: String? {
    let numbers = (logs + segments.map(\.number)).sorted()
    guard numbers.ascend(by: { $0 < $1 }), numbers.last ?? 0 < nextFileNumber else {
      return "file numbers are not unique or not below the next one"
    }
    guard flushedSequence <= Limits.Sequence.maximum,
      segments.allSatisfy({
        $0.lowestSequence <= $0.highestSequence && $0.highestSequence <= flushedSequence
      })
    else { return "a segment's sequences are out of order" }
    guard !logs.isEmpty, logs.ascend(by: { $0 < $1 }) else {
      return "logs do not ascend"
    }
    let isOrdered = segments.allSatisfy { segment in
      segment.spaces.ascend { $0.code < $1.code }
        && segment.spaces.allSatisfy {
          $0.lower.first == $0.code && compareBytes($0.lower, $0.upper) <= 0
            && $0.change.magnitude <= $0.entryCount && $0.tombstoneCount <= $0.entryCount
        }
    }
    guard isOrdered else { return "a segment's spaces are out of order" }
    for (index, space) in spaces.enumerated() {
      let isUnique = spaces[..<index].allSatisfy { $0.code != space.code && $0.name != space.name }
      guard isUnique, Limits.Space.userCodes.contains(space.code) else {
        return "user spaces are not unique"
      }
    }
    return nil
  }
}

extension Array {
  /// Whether each element comes before the next one.
  ///
  /// A launch asks, so there is no set and no zip: making the first of a kind takes a process
  /// 0.1 ms.
  fileprivate func ascend(by precedes: (Element, Element) -> Bool) -> Bool {
    var index = 1
    while index < count {
      if !precedes(self[index - 1], self[index]) { return false }
      index += 1
    }
    return true
  }
}
