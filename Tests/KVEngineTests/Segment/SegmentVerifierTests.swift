import Testing

@testable import KVEngine

@Suite struct SegmentVerifierTests {
  private func verify(
    _ bytes: [UInt8], _ reference: SegmentReference
  ) throws(DatabaseError) -> SegmentVerification {
    try SegmentVerifier(
      file: SegmentTestFile(bytes), fileName: "000007.seg", reference: reference
    ).verify()
  }

  @Test(arguments: [UInt64](1...4), [64, 500, 4096])
  func aSoundSegmentHasNothingToReport(seed: UInt64, blockByteCount: Int) throws {
    let model = try SegmentTestModel(seed: seed, count: 150, blockByteCount: blockByteCount)
    let found = try verify(model.file.bytes, model.summary.reference)
    #expect(found.corruptions == [])
    #expect(found.entryCount == 150)
    #expect(found.spaces == model.summary.spaces)
    #expect(found.lowestSequence == model.summary.lowestSequence)
    #expect(found.highestSequence == model.summary.highestSequence)
  }

  @Test(.bug(id: "B13"), arguments: [UInt64](1...2))
  func aChangedBitOfAnyByteIsReported(seed: UInt64) throws {
    let model = try SegmentTestModel(seed: 21, count: 22, blockByteCount: 120)
    var random = SegmentTestRandom(seed: seed)
    for place in model.file.bytes.indices {
      var bytes = model.file.bytes
      bytes[place] ^= 1 << Int.random(in: 0..<8, using: &random)
      let found = try verify(bytes, model.summary.reference)
      #expect(!found.corruptions.isEmpty, "byte \(place)")
      #expect(found.entryCount <= 22)
    }
  }

  @Test func everyOtherLengthIsReported() throws {
    let model = try SegmentTestModel(seed: 21, count: 22, blockByteCount: 120)
    for count in model.file.bytes.indices {
      let cut = Array(model.file.bytes.prefix(count))
      #expect(try !verify(cut, model.summary.reference).corruptions.isEmpty, "\(count) bytes")
    }
    let longer = try verify(model.file.bytes + [0], model.summary.reference)
    #expect(longer.corruptions.map(\.reason) == ["has another length"])
    #expect(longer.entryCount == 22)
  }

  @Test func workGoesOnBehindDamagedBlocks() throws {
    let model = try SegmentTestModel(seed: 2, count: 100, blockByteCount: 100)
    let sound = try verify(model.file.bytes, model.summary.reference)
    let index = try model.reader().index()
    var bytes = model.file.bytes
    var damaged: [Int] = []
    for (number, place) in [(20, 3), (50, 30)] {
      let entry = model.entries[number]
      let found = try index.entry(forFirstAtOrAfter: entry.key.rawBytes, entry.sequence)
      let handle = try #require(found?.handle)
      bytes[handle.offset + place] ^= 4  // one head, one body
      damaged.append(handle.offset)
    }
    let found = try verify(bytes, model.summary.reference)
    #expect(found.corruptions.map(\.offset) == damaged)
    #expect(found.blockCount == sound.blockCount - 2)
  }

  @Test func aDamagedFooterLeavesTheDataReadable() throws {
    let model = try SegmentTestModel(seed: 2, count: 100, blockByteCount: 100)
    var bytes = model.file.bytes
    bytes[bytes.count - 30] ^= 1
    let found = try verify(bytes, model.summary.reference)
    #expect(found.corruptions.map(\.structure) == ["segment footer"])
    #expect(found.entryCount == 100)
  }

  @Test func aFailedReadIsThrown() throws {
    let model = try SegmentTestModel(seed: 2, count: 100, blockByteCount: 100)
    let expected = DatabaseError.io(
      IOFailure(operation: "read", fileName: "000007.seg", code: 5))
    for reads in 0..<4 {
      model.file.failAfter(reads: reads)
      #expect(throws: expected) {
        _ = try SegmentVerifier(
          file: model.file, fileName: "000007.seg", reference: model.summary.reference
        ).verify()
      }
    }
  }

  // MARK: Segments whose checksums hold and whose content does not

  @Test func aForgeryWithoutAFaultIsSound() throws {
    let (bytes, reference) = SegmentForgery().write()
    #expect(try verify(bytes, reference).corruptions == [])
  }

  @Test func contentThatDoesNotFitTogetherIsReported() throws {
    var forgeries: [String: SegmentForgery] = [:]
    func add(_ name: String, _ change: (inout SegmentForgery) -> Void) {
      var forgery = SegmentForgery()
      change(&forgery)
      forgeries[name] = forgery
    }
    add("order in a block") { $0.blocks[0].reverse() }
    add("order of blocks") { $0.blocks.swapAt(0, 1) }
    add("same entry twice") { $0.blocks[1][0].sequence = 5 }
    add("space of an entry") { $0.blocks[0][0].key[0] = 2 }
    add("space of a block") { $0.spaceCode = 4 }
    add("filter") { $0.filterKeys.removeLast() }
    add("loose frame") { $0.looseFrame = 2 }
    add("count in the index") { forgery in
      forgery.changeIndex = { index in
        index[1] = IndexEntry(handle: index[1].handle, entryCount: 3, change: index[1].change)
      }
    }
    add("change in the index") { forgery in
      forgery.changeIndex = { index in
        index[0] = IndexEntry(handle: index[0].handle, entryCount: 2, change: -1)
      }
    }
    add("place in the index") { forgery in
      forgery.changeIndex = { index in index[1] = index[0] }
    }
    add("count") { $0.changeProperties = { $0.spaces[0].entryCount += 1 } }
    add("tombstones") { $0.changeProperties = { $0.spaces[0].tombstoneCount += 1 } }
    add("change") { $0.changeProperties = { $0.spaces[0].change -= 1 } }
    add("first key") { $0.changeProperties = { $0.spaces[0].firstKey = [3] } }
    add("last key") { $0.changeProperties = { $0.spaces[0].lastKey.append(0) } }
    add("bytes") { $0.changeProperties = { $0.spaces[0].byteCount -= 1 } }
    add("lowest sequence") { $0.changeProperties = { $0.lowestSequence -= 1 } }
    add("highest sequence") { $0.changeProperties = { $0.highestSequence += 1 } }
    add("base") { $0.changeBlock = { $0[0] -= 1 } }
    add("restart points") { forgery in
      forgery.changeBlock = { block in
        let restart = Array(block.suffix(8).prefix(4))
        block.replaceSubrange((block.count - 4)..., with: restart + [2, 0, 0, 0])
      }
    }
    for (name, forgery) in forgeries {
      let (bytes, reference) = forgery.write()
      #expect(try !verify(bytes, reference).corruptions.isEmpty, "\(name)")
    }
  }
}
