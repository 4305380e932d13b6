internal import KVEngine
internal import MemoCore

/// One segment file, taken apart.
struct SegmentLayout {
  /// Where a segment's file stands in its store.
  enum State: String {
    case live
    /// Only a replaced MANIFEST names it.
    case retired
    /// No MANIFEST beside it names it: a writer may be at it, or it is not needed any more.
    case unnamed
    /// There is no MANIFEST beside it.
    case alone
  }

  /// A stretch of the file.
  struct Part {
    let range: Range<Int>
    /// What it is for; "unreadable" where the head of a frame does not verify.
    let kind: String
    /// What the head of a frame says; header and footer are no frames.
    var frame: SegmentFrame?
    let isSound: Bool
  }

  let file: any File
  let fileName: String
  let reference: SegmentReference
  let state: State
  let names: SpaceNames?
  let byteCount: Int
  let verification: SegmentVerification
  /// `nil` when they cannot be read.
  let properties: Properties?

  /// Whether what does not verify is damage: a file that is being written has no end yet.
  var isDamaged: Bool { state != .unnamed && !verification.corruptions.isEmpty }

  /// Reads a file and everything that is wrong with it.
  ///
  /// What the file has to be is what the MANIFEST beside it says; where none names it, what its own
  /// header and footer say.
  init(_ path: String) throws(DatabaseError) {
    let bytes = Array(path.utf8)
    let split = bytes.lastIndex(of: UInt8(ascii: "/"))
    let name = String(decoding: bytes[(split.map { $0 + 1 } ?? 0)...], as: UTF8.self)
    let folder = split.map { String(decoding: bytes[..<max($0, 1)], as: UTF8.self) } ?? "."
    let file = try readingFiles { () throws(SystemError) in
      try PosixFileSystem.shared.open(path, .read)
    }
    let location = StoreLocation(files: PosixFileSystem.shared, folder: folder)
    let manifest = try? location.manifest.read().0
    let descriptor = manifest?.segments.first { .segment($0.number) == FileName(name) }
    state =
      if descriptor != nil {
        .live
      } else if manifest == nil {
        .alone
      } else {
        try Self.isRetired(name, at: location) ? .retired : .unnamed
      }
    // Asked after the MANIFESTs were read: a file that one of them names is complete.
    let byteCount = try readingFiles { () throws(SystemError) in try file.status().byteCount }
    let claim = try Self.claim(of: file, byteCount: byteCount, name: name)
    let reference = descriptor?.reference ?? claim
    names = manifest.map { SpaceNames($0) }
    self.file = file
    fileName = name
    self.byteCount = byteCount
    self.reference = reference
    verification = try SegmentVerifier(file: file, fileName: name, reference: reference).verify()
    var damage = DamageNotes()
    properties = try damage.noting { () throws(DatabaseError) in
      try SegmentReader(file: file, fileName: name, reference: reference).properties()
    }
  }

  /// Whether a replaced MANIFEST names the file.
  private static func isRetired(
    _ name: String, at location: StoreLocation
  ) throws(DatabaseError) -> Bool {
    guard let name = FileName(name) else { return false }
    return try StoreReading.earlierManifests(at: location).contains { earlier in
      (try? earlier.finding.get())?.fileNames.contains(name) ?? false
    }
  }

  /// What the file itself claims to be.
  ///
  /// - Throws: ``DatabaseError/invalidArgument(_:)`` for a file that is no segment, damaged or not.
  private static func claim(
    of file: any File, byteCount: Int, name: String
  ) throws(DatabaseError) -> SegmentReference {
    let start = max(0, byteCount - SegmentFooter.byteCount)
    let (head, footer) = try readingFiles { () throws(SystemError) in
      (
        try file.readBytes(at: 0, count: min(FileHeader.byteCount, byteCount)),
        try file.readBytes(at: start, count: byteCount - start)
      )
    }
    var number: UInt64?
    if case .segment(let named) = FileName(name) { number = named }
    var identity = StoreIdentity(
      high: footer.bytes.littleEndianUInt64(at: 0), low: footer.bytes.littleEndianUInt64(at: 8))
    do throws(FormatError) {
      if case .header(let header) = try FileHeader.decode(head.bytes, kind: .segment) {
        number = header.number
        identity = header.identity
      }
    } catch {
      if number == nil { throw .invalidArgument("\(name) is no segment: \(error.reason)") }
    }
    return SegmentReference(
      number: number ?? 0, identity: identity, byteCount: byteCount,
      footerChecksum: UInt32(
        truncatingIfNeeded: footer.bytes.littleEndianUInt64(at: footer.byteCount - 8) >> 32))
  }

  /// The file from its first byte to its last.
  var parts: [Part] {
    let limit = min(byteCount, max(0, reference.byteCount - SegmentFooter.byteCount))
    var parts: [Part] = []
    var end = 0
    func add(_ range: Range<Int>, _ kind: String, _ frame: SegmentFrame? = nil) {
      let range = range.clamped(to: 0..<byteCount)
      if end < range.lowerBound { add(end..<range.lowerBound, "unreadable") }
      if range.isEmpty { return }
      let isDamaged = verification.corruptions.contains { range.contains($0.offset) }
      let isSound = kind != "unreadable" && !isDamaged
      parts.append(Part(range: range, kind: kind, frame: frame, isSound: isSound))
      end = range.upperBound
    }
    add(0..<FileHeader.byteCount, "header")
    for frame in verification.frames {
      add(frame.offset..<frame.offset + frame.head.frameByteCount, "\(frame.head.kind)", frame)
    }
    add(limit..<reference.byteCount, "footer")
    if end < byteCount { add(end..<byteCount, "unreadable") }
    return parts
  }
}

extension SegmentLayout {
  /// The bytes of a part as they are in the file.
  func bytes(of part: Part) throws(DatabaseError) -> [UInt8] {
    try readingFiles { () throws(SystemError) in
      let bytes = try file.readBytes(at: part.range.lowerBound, count: part.range.count)
      return [UInt8](copying: bytes.bytes)
    }
  }
}

extension RawSpan {
  /// Eight bytes as a number; 0 where there are not so many.
  fileprivate func littleEndianUInt64(at offset: Int) -> UInt64 {
    guard offset >= 0, offset + 8 <= byteCount else { return 0 }
    return UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
