// What can be read of one segment without trusting anything else: frames describe themselves, and
// their heads are bound to segment and place, so the walk needs neither MANIFEST nor footer nor
// index, and finds its way behind any damaged stretch.

/// Keys that may be missing: from `lower` on, before `upper`.
struct KeyGap {
  let lower: [UInt8]
  let upper: [UInt8]?

  func contains(_ key: [UInt8]) -> Bool {
    compareBytes(key, lower) >= 0 && upper.map { compareBytes(key, $0) < 0 } ?? true
  }
}

/// The blocks of one segment file that verify.
struct SalvagedSegment {
  /// A data block that verifies.
  struct Place {
    let offset: Int
    let byteCount: Int
    let spaceCode: UInt8
  }

  let file: SegmentFile
  private(set) var blocks: [Place] = []
  private(set) var losses: [SalvageReport.Loss] = []
  private(set) var gaps: [KeyGap] = []
  private(set) var entryCount = 0
  private(set) var sequences: ClosedRange<SequenceNumber>?
  /// Spaces in which some entry carries a change of the number of keys.
  private(set) var countedSpaces: Set<UInt8> = []

  /// What MANIFEST or properties say of the spaces, ascending by code.
  private var known: [KnownSpace]?
  private var window = FrameWindow()
  private var buffer = ByteBuffer.empty
  private var lastKey: [UInt8]?
  /// The stretch that is being lost, until a block behind it says where the lost keys end.
  private var pending: (offsets: Range<Int>, reason: String)?

  private init(_ file: SegmentFile) {
    self.file = file
  }

  /// Reads a segment file from its start to its end.
  ///
  /// `descriptor` is what a MANIFEST says of the segment with this number, if it names one.
  ///
  /// - Returns: What verifies, and the segment's identity; without any block when nothing does.
  /// - Throws: ``DatabaseError/notAvailableYet(_:)``,
  ///   ``DatabaseError/unsupportedFormat(fileName:found:known:)``; any other failure is a loss.
  static func read(
    _ file: any File, name: String, number: UInt64, descriptor: SegmentDescriptor?
  ) throws(DatabaseError) -> SalvagedSegment {
    let marks = try SegmentMarks(of: file)
    if let version = marks.otherVersion {
      throw .unsupportedFormat(fileName: name, found: version, known: FormatVersion.current)
    }
    let identities =
      marks.identity.map { [$0] } ?? ([descriptor?.identity].compactMap(\.self) + marks.claims)
    var result: SalvagedSegment?
    for identity in identities where result?.blocks.isEmpty ?? true {
      // Without a footer, frames may go on to the end of the file.
      let footerByteCount = marks.footerChecksum == nil ? SegmentFooter.byteCount : 0
      let reference = SegmentReference(
        number: number, identity: identity, byteCount: marks.byteCount + footerByteCount,
        footerChecksum: marks.footerChecksum ?? 0)
      var segment = SalvagedSegment(SegmentFile(file: file, name: name, reference: reference))
      try segment.walk()
      if let descriptor, descriptor.identity == identity {
        segment.known = descriptor.spaces.map(KnownSpace.init)
      }
      segment.settle(isCut: marks.footerChecksum == nil)
      result = segment
    }
    if let result { return result }
    // Not even a name to look for in the file.
    let reference = SegmentReference(
      number: number, identity: StoreIdentity(high: 0, low: 0), byteCount: marks.byteCount,
      footerChecksum: 0)
    var nothing = SalvagedSegment(SegmentFile(file: file, name: name, reference: reference))
    nothing.losses = [
      SalvageReport.Loss(
        fileName: name, offsets: 0..<marks.byteCount,
        reason: "is no segment")
    ]
    return nothing
  }

  // MARK: - Walk

  private mutating func walk() throws(DatabaseError) {
    var offset = FileHeader.byteCount
    while offset < file.frameLimit {
      guard let head = try head(at: offset) else {
        let next = try nextFrame(after: offset)
        lose(offset..<next, "frame head does not verify")
        offset = next
        continue
      }
      let end = offset + head.frameByteCount
      do throws(DatabaseError) {
        switch head.kind {
        case .data: try take(head, at: offset)
        case .properties: try takeProperties(head, at: offset)
        case .index, .filter, .dictionary, .grams: break
        }
      } catch {
        if case .notAvailableYet = error { throw error }
        if head.kind == .data { lose(offset..<end, Self.reason(error)) }
      }
      offset = end
    }
  }

  private static func reason(_ error: DatabaseError) -> String {
    guard case .damaged(let corruption) = error else { return "\(error)" }
    return "\(corruption.structure): \(corruption.reason)"
  }

  /// The head of the frame at an offset, `nil` when none is there or it cannot be read.
  private mutating func head(at offset: Int) throws(DatabaseError) -> FrameHead? {
    let end = offset + FrameHead.byteCount
    guard end <= file.frameLimit else { return nil }
    do throws(DatabaseError) {
      try window.readAhead(offset..<end, of: file)
      return try window.head(at: offset, of: file)
    } catch {
      if case .notAvailableYet = error { throw error }
      return nil
    }
  }

  /// Where the next frame begins whose head verifies; the end of frames for none.
  private mutating func nextFrame(after offset: Int) throws(DatabaseError) -> Int {
    var place = offset + 1
    while place + FrameHead.byteCount <= file.frameLimit {
      do throws(DatabaseError) {
        try window.readAhead(place..<place + FrameHead.byteCount, of: file)
      } catch {
        if case .notAvailableYet = error { throw error }
        place += FrameHead.byteCount
        continue
      }
      let last = min(window.range.upperBound, file.frameLimit) - FrameHead.byteCount
      while place <= last {
        // Checksums take longer than a look at the bytes that are the same in all heads.
        let bytes = window.bytes(place..<place + FrameHead.byteCount)
        if Self.mayBeHead(bytes), (try? window.head(at: place, of: file)) != nil { return place }
        place += 1
      }
    }
    return file.frameLimit
  }

  private static func mayBeHead(_ bytes: RawSpan) -> Bool {
    guard BlockKind(rawValue: bytes.byte(at: 0)) != nil else { return false }
    return bytes.byte(at: 2) == 0
      && bytes.extracting(4..<8).firstNonZeroOffset == nil
  }

  private mutating func decode(_ head: FrameHead, at offset: Int) throws(DatabaseError) {
    try window.readAhead(offset..<offset + head.frameByteCount, of: file)
    try window.decode(head, at: offset, of: file, into: &buffer)
  }

  private mutating func takeProperties(
    _ head: FrameHead, at offset: Int
  ) throws(DatabaseError) {
    try decode(head, at: offset)
    do throws(FormatError) {
      let properties = try Properties.decode(buffer.bytes, limit: file.frameLimit)
      known = properties.spaces.map(KnownSpace.init)
    } catch {
      throw file.damage(error, inBlockAt: offset)
    }
  }

  /// Checks a data block and notes what is in it.
  private mutating func take(_ head: FrameHead, at offset: Int) throws(DatabaseError) {
    try decode(head, at: offset)
    let block = try file.dataBlock(buffer, at: offset)
    do throws(FormatError) {
      let tally = try BlockTally(counting: block, ofSpace: head.spaceCode, filter: nil)
      if let lastKey, compareBytes(lastKey, tally.space.firstKey) > 0 {
        throw FormatError("data block", at: 0, "is not behind the block before")
      }
      if !countedSpaces.contains(head.spaceCode), try Self.carriesChange(block) {
        countedSpaces.insert(head.spaceCode)
      }
      endLoss(before: tally.space.firstKey)
      blocks.append(
        Place(offset: offset, byteCount: head.frameByteCount, spaceCode: head.spaceCode))
      entryCount += tally.space.entryCount
      let known = sequences ?? tally.lowestSequence...tally.highestSequence
      sequences =
        min(known.lowerBound, tally.lowestSequence)...max(known.upperBound, tally.highestSequence)
      lastKey = tally.space.lastKey
    } catch {
      throw file.damage(error, inBlockAt: offset)
    }
  }

  private static func carriesChange(_ block: Block) throws(FormatError) -> Bool {
    var reader = BlockReader()
    reader.take(block)
    try reader.seekToFirst()
    while reader.isValid {
      if reader.tag.kind.change != 0 { return true }
      try reader.next()
    }
    return false
  }

  // MARK: - Losses

  private mutating func lose(_ offsets: Range<Int>, _ reason: String) {
    let start = pending?.offsets.lowerBound ?? offsets.lowerBound
    pending = (start..<offsets.upperBound, pending?.reason ?? reason)
  }

  private mutating func endLoss(before key: [UInt8]?) {
    guard let lost = pending else { return }
    pending = nil
    losses.append(
      SalvageReport.Loss(
        fileName: file.name, offsets: lost.offsets, lowerKey: lastKey, upperKey: key,
        reason: lost.reason))
    gaps.append(KeyGap(lower: lastKey.map { $0 + [0] } ?? [], upper: key))
  }

  /// Compares what was found with what MANIFEST or properties say of the segment, so that damage of
  /// what is no data is no loss, and a lost end has bounds.
  private mutating func settle(isCut: Bool) {
    if pending == nil, isCut { lose(file.frameLimit..<file.frameLimit, "file ends too early") }
    guard let known, let upper = known.last?.upper else { return endLoss(before: nil) }
    if known.reduce(0, { $0 + $1.entryCount }) == entryCount {
      (pending, losses, gaps) = (nil, [], [])
    } else if let lastKey, compareBytes(lastKey, upper) >= 0 {
      // Behind the last key there is nothing to lose.
      pending = nil
    }
    endLoss(before: upper + [0])
  }
}

/// What is known of a space in a segment without its blocks.
private struct KnownSpace {
  let entryCount: Int
  let upper: [UInt8]

  init(_ bounds: SpaceBounds) {
    (entryCount, upper) = (bounds.entryCount, bounds.upper)
  }

  init(_ space: SpaceSummary) {
    (entryCount, upper) = (space.entryCount, space.lastKey)
  }
}

/// What a segment file says of itself at its two ends.
private struct SegmentMarks {
  /// Proved by the checksum of header or footer.
  private(set) var identity: StoreIdentity?
  /// What stands where identities are, not proved.
  private(set) var claims: [StoreIdentity] = []
  /// The footer's checksum, if there is a valid footer.
  private(set) var footerChecksum: UInt32?
  /// Bytes of the file that are looked at.
  private(set) var byteCount = 0
  /// The format version of a file that is not of ours.
  private(set) var otherVersion: UInt16?

  init(of file: any File) throws(DatabaseError) {
    do throws(SystemError) {
      byteCount = min(try file.status().byteCount, Limits.Segment.maximumByteCount)
      if let head = try Self.read(file, at: 0, count: FileHeader.byteCount) {
        if let claim = Self.identity(in: head, at: 16) { claims.append(claim) }
        switch try? FileHeader.decode(head.bytes, kind: .segment) {
        case .header(let header)?: identity = header.identity
        case .otherVersion(let version)?: otherVersion = version
        case nil: break
        }
      }
      let offset = byteCount - SegmentFooter.byteCount
      guard offset >= FileHeader.byteCount,
        let foot = try Self.read(file, at: offset, count: SegmentFooter.byteCount)
      else { return }
      take(foot)
    } catch {
      if error.isUnavailable { throw error.readFailure }
    }
  }

  private mutating func take(_ foot: ByteBuffer) {
    guard foot.byteCount == SegmentFooter.byteCount, let claim = Self.identity(in: foot, at: 0)
    else { return }
    claims.append(claim)
    let checksum = SegmentFooter.checksum(of: foot.bytes)
    let reference = SegmentReference(
      number: 0, identity: claim, byteCount: byteCount, footerChecksum: checksum)
    guard case .footer? = try? SegmentFooter.decode(foot.bytes, of: reference) else { return }
    identity = identity ?? claim
    if identity == claim { footerChecksum = checksum }
  }

  /// Bytes of the file; `nil` when they cannot be read though the file can.
  private static func read(
    _ file: any File, at offset: Int, count: Int
  ) throws(SystemError) -> ByteBuffer? {
    do throws(SystemError) {
      return try file.readBytes(at: offset, count: count)
    } catch {
      if error.isUnavailable { throw error }
      return nil
    }
  }

  private static func identity(in buffer: ByteBuffer, at offset: Int) -> StoreIdentity? {
    var reader = ByteReader(buffer.bytes, structure: "identity")
    do throws(FormatError) {
      try reader.skip(offset)
      return StoreIdentity(high: try reader.u64(), low: try reader.u64())
    } catch {
      return nil
    }
  }
}
