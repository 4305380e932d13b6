import Testing

@testable import KVEngine

/// What is read from a damaged file is right, or it is an error; never wrong, never a trap.
@Suite struct SegmentDamageTests {
  /// Reads a segment in every way and compares what comes with what is right.
  ///
  /// Runs for every bit, so it speaks up only when something is wrong.
  private func check(_ bytes: [UInt8], of model: SegmentTestModel, _ comment: String) {
    var launch = SegmentCursor(model.reader(bytes: bytes))
    check(&launch, model.entries, comment) { cursor throws(DatabaseError) in
      try cursor.seekToFirst()
    } step: { cursor throws(DatabaseError) in
      try cursor.next()
    }
    let reader = model.reader(bytes: bytes)
    var backward = SegmentCursor(reader)
    check(&backward, model.entries.reversed(), comment) { cursor throws(DatabaseError) in
      try cursor.seekToLast()
    } step: { cursor throws(DatabaseError) in
      try cursor.previous()
    }
    for entry in model.entries where entry.sequence % 5 == 0 {
      do throws(DatabaseError) {
        let found = try reader.find(entry.key, atOrBelow: entry.sequence)
        if found?.value != entry.value || found?.tag != entry.tag {
          Issue.record("\(comment): wrong answer for \(entry)")
        }
      } catch {
        checkDamage(error, comment)
      }
    }
  }

  private typealias Move = (inout SegmentCursor) throws(DatabaseError) -> Void

  /// Takes entries until the end or an error, which has to stay.
  private func check(
    _ cursor: inout SegmentCursor, _ expected: [SegmentTestEntry], _ comment: String,
    begin: Move, step: Move
  ) {
    var count = 0
    do throws(DatabaseError) {
      try begin(&cursor)
      while cursor.isValid, count < expected.count, cursor.current == expected[count] {
        count += 1
        try step(&cursor)
      }
      if count < expected.count || cursor.isValid {
        Issue.record("\(comment): wrong after \(count) entries")
      }
    } catch {
      checkDamage(error, comment)
      checkFailed(&cursor, comment) { cursor throws(DatabaseError) in try cursor.next() }
      checkFailed(&cursor, comment) { cursor throws(DatabaseError) in try cursor.previous() }
      checkFailed(&cursor, comment) { cursor throws(DatabaseError) in try cursor.seekToFirst() }
    }
  }

  private func checkFailed(_ cursor: inout SegmentCursor, _ comment: String, move: Move) {
    if cursor.isValid || (try? move(&cursor)) != nil { Issue.record("\(comment): error is gone") }
  }

  private func checkDamage(_ error: DatabaseError, _ comment: String) {
    if case .damaged(let corruption) = error, corruption.fileName == "000007.seg" { return }
    Issue.record("\(comment): \(error)")
  }

  private func small() throws -> SegmentTestModel {
    try SegmentTestModel(seed: 21, count: 22, blockByteCount: 120)
  }

  @Test(.bug(id: "B13"), arguments: 0..<8)
  func everyChangedBitIsFoundOrHarmless(bit: Int) throws {
    let model = try small()
    let sound = model.file.bytes
    #expect(sound.count < 2000)
    for place in sound.indices {
      var bytes = sound
      bytes[place] ^= 1 << bit
      check(bytes, of: model, "byte \(place), bit \(bit)")
    }
  }

  @Test(.bug(id: "B62")) func everyShorterFileIsDamaged() throws {
    let model = try small()
    let sound = model.file.bytes
    for count in sound.indices {
      check(Array(sound.prefix(count)), of: model, "\(count) bytes")
      let cut = model.reader(bytes: Array(sound.prefix(count)))
      #expect(throws: DatabaseError.self) { _ = try cut.index() }
    }
    check(sound + [1, 2, 3], of: model, "three bytes more")
  }

  @Test(.bug(id: "B13")) func aDamagedBlockCostsItsOwnKeysOnly() throws {
    let model = try SegmentTestModel(seed: 2, count: 100, blockByteCount: 100)
    let index = try model.reader().index()
    let key = model.entries[40].key
    let entry = try index.entry(forFirstAtOrAfter: key.rawBytes, model.entries[40].sequence)
    let handle = try #require(entry?.handle)
    var bytes = model.file.bytes
    bytes[handle.offset + 30] ^= 1
    let reader = model.reader(bytes: bytes)
    var lost = 0
    for entry in model.entries {
      do throws(DatabaseError) {
        #expect(try reader.find(entry.key, atOrBelow: entry.sequence)?.value == entry.value)
      } catch {
        guard case .damaged(let corruption) = error else { throw error }
        #expect(corruption.offset == handle.offset)
        lost += 1
      }
    }
    #expect(lost > 0 && lost == entry?.entryCount)
  }

  @Test(arguments: 0..<4) func aFailedReadIsNoDamageAndStays(reads: Int) throws {
    let model = try SegmentTestModel(seed: 6, count: 2000, blockByteCount: 500)
    let expected = DatabaseError.io(
      IOFailure(operation: "read", fileName: "000007.seg", code: 5))
    var cursor = SegmentCursor(model.reader())
    model.file.failAfter(reads: reads)
    #expect(throws: expected) {
      try cursor.seek(atOrAfter: model.entries[1000].key)
      while cursor.isValid { try cursor.next() }
    }
    model.file.failAfter()
    #expect(cursor.isValid == false)
    #expect(throws: expected) { try cursor.next() }
    #expect(throws: expected) { try cursor.seekToFirst() }
    model.file.failAfter(reads: 0)
    let reader = model.reader()
    #expect(throws: expected) { _ = try reader.find([1, 0]) }
    model.file.failAfter()
    #expect(try reader.find(model.entries[5].key) != nil)
  }

  @Test func anotherSegmentUnderTheSameNameIsDamage() throws {
    let model = try small()
    let other = try SegmentTestModel(seed: 22, count: 22, blockByteCount: 120)
    // The same identity and number, another content: only footer and size tell.
    let reader = model.reader(bytes: other.file.bytes)
    #expect(throws: DatabaseError.self) { _ = try reader.index() }
    let reference = SegmentReference(
      number: 8, identity: model.summary.identity, byteCount: model.summary.byteCount,
      footerChecksum: model.summary.footerChecksum)
    let renamed = SegmentReader(file: model.file, fileName: "000008.seg", reference: reference)
    #expect(throws: DatabaseError.self) { _ = try renamed.index() }
    var cursor = SegmentCursor(renamed)
    #expect(throws: DatabaseError.self) { try cursor.seekToFirst() }
  }

  @Test func aNewerFormatIsNamedAsSuch() throws {
    let model = try small()
    var bytes = model.file.bytes
    bytes[8] = 5
    let checksum = CRC32C.checksum(bytes.rawBytes.extracting(first: 44))
    for index in 0..<4 { bytes[44 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index)) }
    let expected = DatabaseError.unsupportedFormat(
      fileName: "000007.seg", found: 5, known: FormatVersion.current)
    #expect(throws: expected) { _ = try model.reader(bytes: bytes).index() }
    var cursor = SegmentCursor(model.reader(bytes: bytes))
    #expect(throws: expected) { try cursor.seekToFirst() }
  }

  /// All checksums hold here, so only the structure can tell.
  @Test func forgedStructuresAreDamageForCursors() throws {
    var twice = SegmentForgery()
    twice.changeIndex = { index in index[1] = index[0] }
    var wrongKind = SegmentForgery()
    wrongKind.changeIndex = { index in
      let data = index[1].handle
      let filter = BlockHandle(offset: data.range.upperBound, byteCount: 33)
      index[1] = IndexEntry(handle: filter, entryCount: 2, change: 0)
    }
    for forgery in [twice, wrongKind] {
      let (bytes, reference) = forgery.write()
      for isForward in [true, false] {
        let reader = SegmentReader(
          file: SegmentTestFile(bytes), fileName: "000007.seg", reference: reference)
        _ = try reader.index()
        var cursor = SegmentCursor(reader)
        #expect(throws: DatabaseError.self) {
          if isForward { try cursor.seek(atOrAfter: [3]) } else { try cursor.seekToLast() }
          _ = isForward ? try cursor.forward() : try cursor.backward()
        }
      }
    }
  }

  @Test func dataUpToTheFooterIsDamageAndNotTheEnd() throws {
    let whole = SegmentForgery().write()
    let reader = SegmentReader(
      file: SegmentTestFile(whole.bytes), fileName: "000007.seg", reference: whole.reference)
    let handle = try #require(try reader.index().entry(forFirstAtOrAfter: [3, 9]))
    let end = handle.handle.range.upperBound
    let cut = SegmentReference(
      number: 7, identity: whole.reference.identity, byteCount: end + 72, footerChecksum: 0)
    var cursor = SegmentCursor(
      SegmentReader(
        file: SegmentTestFile(whole.bytes), fileName: "000007.seg", reference: cut))
    try cursor.seekToFirst()
    #expect(throws: DatabaseError.self) { _ = try cursor.forward() }
  }
}

extension IndexBlock {
  fileprivate func entry(forFirstAtOrAfter key: [UInt8]) throws(FormatError) -> IndexEntry? {
    try entry(forFirstAtOrAfter: key.rawBytes, Limits.Sequence.maximum)
  }
}
