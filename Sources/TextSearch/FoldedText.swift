/// The folded form of one text after the other, in a buffer that is used again.
///
/// Two texts that differ in nothing but what their folding takes for the same have the same bytes
/// here, in whichever normal form they are.
package struct FoldedText: ~Copyable {
  /// What one text may leave behind in memory.
  private static let keptByteCount = 256 << 10
  /// Room that the longest expansion of a scalar fits in, and a word.
  fileprivate static let slack = 80

  private var storage: [UInt8] = []
  private var byteCount = 0
  private var map = OffsetMap()
  private var run = CanonicalRun()

  /// Makes an empty one, which takes no memory.
  package init() {}

  /// Folds a text, in place of the one before.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - folding: What is taken for the same.
  ///   - isMapped: Whether ``originalRange(of:)`` will be asked.
  /// - Returns: Whether the text is UTF-8; otherwise what is here is not its folded form.
  /// - Complexity: O(bytes), and O(*n* log *n*) where *n* marks follow one letter.
  package mutating func fold(_ text: RawSpan, _ folding: TextFolding, isMapped: Bool) -> Bool {
    map.reset()
    byteCount = 0
    if storage.count > Self.keptByteCount, text.byteCount < Self.keptByteCount / 8 { storage = [] }
    reserve(text.byteCount)
    if folding == .exact {
      copy(text)
      return true
    }
    var walk = FoldingWalk(dropsMarks: folding == .withoutMarks, isMapped: isMapped)
    while true {
      // Out of the property, so that the loop needs no look at who else uses it.
      let stop = unsafe storage.withUnsafeMutableBytes { bytes in
        var output = unsafe MutableRawSpan(_unsafeBytes: bytes)
        return walk.advance(text, &output, &map)
      }
      byteCount = walk.written
      switch stop {
      case .end: return true
      case .notUTF8: return false
      case .full: reserve(text.byteCount - walk.reading)
      case .run(let start, let target):
        guard foldRun(text, from: start, to: target, &walk) else { return false }
      }
    }
  }

  /// The folded bytes.
  package func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
    let count = byteCount
    return storage.withBytes { body($0.extracting(first: count)) }
  }

  /// Where in the text some of the folded bytes come from: whole scalars.
  ///
  /// Characters without a look of their own belong to what is before them.
  package func originalRange(of folded: Range<Int>) -> Range<Int> { map.original(of: folded) }

  private mutating func reserve(_ count: Int) {
    let needed = byteCount + count + Self.slack
    if storage.count < needed {
      storage.append(contentsOf: repeatElement(0, count: needed - storage.count))
    }
  }

  private mutating func copy(_ text: RawSpan) {
    byteCount = text.byteCount
    unsafe storage.withUnsafeMutableBytes { target in
      unsafe text.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
  }

  /// Folds a letter with everything that may change together with it.
  private mutating func foldRun(
    _ text: RawSpan, from start: Int, to target: Int, _ walk: inout FoldingWalk
  ) -> Bool {
    run.reset()
    var reading = start
    while reading < text.byteCount {
      guard let (scalar, count) = text.scalar(at: reading) else { return false }
      let entry = FoldingEntry(scalar)
      if reading > start, !entry.joins { break }
      run.append(scalar, entry, droppingMarks: walk.dropsMarks)
      reading += count
    }
    byteCount = target
    reserve(run.compose() + text.byteCount - reading)
    byteCount = unsafe storage.withUnsafeMutableBytes { bytes in
      var output = unsafe MutableRawSpan(_unsafeBytes: bytes)
      return run.write(to: &output, at: target)
    }
    if walk.isMapped {
      map.remove(behind: target)
      map.addPiece(folded: target..<byteCount, original: start..<reading)
    }
    walk.continueBehindRun(reading, byteCount)
    return true
  }
}

/// A way through a text, scalar by scalar, as far as each can be folded by itself.
struct FoldingWalk {
  /// Why the way does not go on.
  enum Stop {
    case end
    /// There is no room for more.
    case full
    /// Something begins at an offset of the text, and of the output, that changes together.
    case run(Int, Int)
    case notUTF8
  }

  let dropsMarks: Bool
  let isMapped: Bool
  private(set) var reading = 0
  private(set) var written = 0
  /// Where the last scalar began, which the next may change; `nil` before the first.
  private var last: (reading: Int, written: Int)?

  init(dropsMarks: Bool, isMapped: Bool) {
    self.dropsMarks = dropsMarks
    self.isMapped = isMapped
  }

  /// Goes on behind something that was folded as a whole, which nothing else joins.
  mutating func continueBehindRun(_ reading: Int, _ written: Int) {
    (self.reading, self.written, last) = (reading, written, nil)
  }

  /// Folds what can be folded scalar by scalar.
  mutating func advance(
    _ text: RawSpan, _ output: inout MutableRawSpan, _ map: inout OffsetMap
  ) -> Stop {
    while reading < text.byteCount {
      guard written + FoldedText.slack <= output.byteCount else { return .full }
      let first = text.byte(at: reading)
      if first < 0x80 {
        advancePlain(text, &output)
        continue
      }
      guard let (scalar, count) = text.scalar(at: reading) else { return .notUTF8 }
      let entry = FoldingEntry(scalar)
      // Between them only kana are composed, whose marks stay, and Hangul.
      let mayHoldMark = dropsMarks && !(0x3000..<0xD800).contains(scalar)
      if entry.isPlain, !mayHoldMark {
        last = (reading, written)
        written += output.encode(scalar, at: written)
        reading += count
        continue
      }
      if entry.joins { return .run(last?.reading ?? reading, last?.written ?? written) }
      if mayHoldMark || !entry.isSingle && entry.expansion.isUnordered {
        return .run(reading, written)
      }
      let length = write(scalar, entry, &output)
      if isMapped, length != count || !entry.isSingle {
        map.addPiece(
          folded: written..<written + length, original: reading..<reading + count)
      }
      last = (reading, written)
      written += length
      reading += count
    }
    return .end
  }

  /// Writes what a scalar stands for.
  @inline(__always)
  private func write(
    _ scalar: UInt32, _ entry: FoldingEntry, _ output: inout MutableRawSpan
  ) -> Int {
    if entry.isSingle { return output.encode(entry.record.target(of: scalar), at: written) }
    let expansion = entry.expansion
    for offset in 0..<expansion.byteCount {
      output.put(UInt32(expansion.byte(at: offset)), at: written + offset)
    }
    return expansion.byteCount
  }

  /// Folds ASCII, of which the next byte is: only its capital letters change.
  @inline(__always)
  private mutating func advancePlain(_ text: RawSpan, _ output: inout MutableRawSpan) {
    var (reading, written) = (reading, written)
    while reading + 8 <= text.byteCount, written + 8 <= output.byteCount {
      let word = text.word(at: reading)
      if word & 0x8080_8080_8080_8080 != 0 { break }
      output.storeBytes(of: word.lowercased.littleEndian, toByteOffset: written, as: UInt64.self)
      reading += 8
      written += 8
    }
    while reading < text.byteCount, written < output.byteCount {
      let byte = text.byte(at: reading)
      if byte >= 0x80 { break }
      output.put(UInt32(byte) | (byte >= 0x41 && byte <= 0x5A ? 0x20 : 0), at: written)
      reading += 1
      written += 1
    }
    last = (reading - 1, written - 1)
    (self.reading, self.written) = (reading, written)
  }
}

extension UInt64 {
  /// Eight bytes of ASCII in lower case.
  @inline(__always)
  fileprivate var lowercased: UInt64 {
    // The highest bit of each byte: whether it is at least "A", and whether it is above "Z".
    let fromA = self &+ 0x3F3F_3F3F_3F3F_3F3F
    let aboveZ = self &+ 0x2525_2525_2525_2525
    return self | (fromA & ~aboveZ & 0x8080_8080_8080_8080) >> 2
  }
}
