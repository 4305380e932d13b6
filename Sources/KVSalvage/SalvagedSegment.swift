// What can be read of one segment without trusting anything else: frames describe themselves, and
// their heads are bound to segment and place, so the walk needs neither MANIFEST nor footer nor
// index, and finds its way behind any damaged stretch.

internal import KVEngine

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
    let head: FrameHead
  }

  private(set) var frames: SegmentFrames
  private(set) var blocks: [Place] = []
  private(set) var losses: [SalvageReport.Loss] = []
  private(set) var gaps: [KeyGap] = []
  private(set) var entryCount = 0
  private(set) var sequences: ClosedRange<SequenceNumber>?
  /// Spaces in which some entry carries a change of the number of keys.
  private(set) var countedSpaces: Set<UInt8> = []

  /// What MANIFEST or properties say of the spaces, ascending by code.
  private var known: [KnownSpace]?
  private var lastKey: [UInt8]?
  /// The stretch that is being lost, until a block behind it says where the lost keys end.
  private var pending: (offsets: Range<Int>, reason: String)?

  private init(_ frames: SegmentFrames) {
    self.frames = frames
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
      var segment = SalvagedSegment(
        SegmentFrames(file: file, fileName: name, reference: reference))
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
    var nothing = SalvagedSegment(
      SegmentFrames(file: file, fileName: name, reference: reference))
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
    while offset < frames.limit {
      guard let head = try frames.head(at: offset) else {
        let next = try frames.nextOffset(behind: offset)
        lose(offset..<next, "frame head does not verify")
        offset = next
        continue
      }
      let end = offset + head.frameByteCount
      do throws(DatabaseError) {
        switch head.kind {
        case .data: try take(head, at: offset)
        case .properties:
          known = try frames.properties(of: head, at: offset).spaces.map(KnownSpace.init)
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

  /// Notes what is in a data block that verifies.
  private mutating func take(_ head: FrameHead, at offset: Int) throws(DatabaseError) {
    let entries = try frames.entries(of: head, at: offset)
    guard let first = entries.first, let last = entries.last else { return }
    if let lastKey, compareBytes(lastKey, first.key) > 0 {
      return lose(
        offset..<offset + head.frameByteCount, "data block: is not behind the block before")
    }
    endLoss(before: first.key)
    blocks.append(Place(offset: offset, head: head))
    entryCount += entries.count
    for entry in entries {
      let sequence = entry.tag.sequence
      let known = sequences ?? sequence...sequence
      sequences = min(known.lowerBound, sequence)...max(known.upperBound, sequence)
    }
    if entries.contains(where: { $0.tag.kind.change != 0 }) {
      countedSpaces.insert(head.spaceCode)
    }
    lastKey = last.key
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
        fileName: frames.fileName, offsets: lost.offsets, lowerKey: lastKey, upperKey: key,
        reason: lost.reason))
    gaps.append(KeyGap(lower: lastKey.map { $0 + [0] } ?? [], upper: key))
  }

  /// Compares what was found with what MANIFEST or properties say of the segment, so that damage of
  /// what is no data is no loss, and a lost end has bounds.
  private mutating func settle(isCut: Bool) {
    if pending == nil, isCut { lose(frames.limit..<frames.limit, "file ends too early") }
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
