import KVTestSupport

@testable import KVEngine

/// Makes the checksums of a changed store hold again, so that what is behind them is reached.
struct StoreForge {
  private let store: SmallStore
  let files: [String: [UInt8]]

  init(_ store: SmallStore) throws {
    self.store = store
    files = try store.files.storeFiles()
  }

  /// Parts of files that something reads.
  enum Part: CaseIterable {
    case manifest, log, recordHead, frame, frameHead, footer, anything
  }

  /// Changes one part of a file; `isRepaired` says whether its checksums hold again.
  func mutated(_ mutator: inout ByteMutator, isRepaired: Bool) -> [String: [UInt8]] {
    var changed = files
    for _ in 0..<1 + mutator.number(below: 2) {
      let part = Part.allCases[mutator.number(below: Part.allCases.count)]
      let segment = FileName.segment(
        store.segmentNumbers[mutator.number(below: store.segmentNumbers.count)]
      ).text
      let log = FileName.log(store.logNumber).text
      switch part {
      case .manifest: mutate("MANIFEST", manifestBody, &changed, &mutator)
      case .log: mutate(log, pick(payloads, &mutator), &changed, &mutator)
      case .recordHead: mutate(log, pick(heads, &mutator), &changed, &mutator)
      case .frame:
        mutate(segment, pick(frames(of: segment).map(\.body), &mutator), &changed, &mutator)
      case .frameHead:
        mutate(segment, pick(frames(of: segment).map(\.head), &mutator), &changed, &mutator)
      case .footer:
        let count = files[segment]?.count ?? 0
        mutate(segment, count - SegmentFooter.byteCount..<count - 4, &changed, &mutator)
      case .anything:
        let names = changed.keys.sorted()
        let name = names[mutator.number(below: names.count)]
        if isRepaired { continue }
        changed[name] = mutator.mutated(changed[name] ?? [])
      }
    }
    if isRepaired { repair(&changed) }
    return changed
  }

  private func pick(_ ranges: [Range<Int>], _ mutator: inout ByteMutator) -> Range<Int> {
    ranges.isEmpty ? 0..<0 : ranges[mutator.number(below: ranges.count)]
  }

  private func mutate(
    _ name: String, _ range: Range<Int>, _ changed: inout [String: [UInt8]],
    _ mutator: inout ByteMutator
  ) {
    guard var bytes = changed[name], range.upperBound <= bytes.count else { return }
    mutator.overwrite(&bytes, in: range)
    changed[name] = bytes
  }

  // MARK: Where things are, by the unchanged files

  private var manifestBody: Range<Int> {
    let start = FileHeader.byteCount + 4
    return start..<start + u32(files["MANIFEST"] ?? [], at: FileHeader.byteCount)
  }

  private var payloads: [Range<Int>] {
    store.records.map { $0.lowerBound + RecordHead.byteCount..<$0.upperBound }
  }

  /// Heads without their checksums.
  private var heads: [Range<Int>] {
    store.records.map { $0.lowerBound..<$0.lowerBound + 32 }
  }

  private func frames(of name: String) -> [(head: Range<Int>, body: Range<Int>)] {
    SmallStore.frames(of: files[name] ?? []).map { frame in
      let start = frame.lowerBound
      return (start..<start + 16, start + FrameHead.byteCount..<frame.upperBound)
    }
  }

  private func u32(_ bytes: [UInt8], at offset: Int) -> Int {
    guard offset + 4 <= bytes.count else { return 0 }
    return bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: Checksums

  private func repair(_ changed: inout [String: [UInt8]]) {
    var manifest = changed["MANIFEST"] ?? []
    for number in store.segmentNumbers {
      let name = FileName.segment(number).text
      guard var bytes = changed[name], bytes != files[name] else { continue }
      repairSegment(name, &bytes)
      changed[name] = bytes
      // The MANIFEST names the checksum of the footer.
      let known = Array((files[name] ?? []).suffix(4))
      replace(known, with: Array(bytes.suffix(4)), in: &manifest)
    }
    repairManifest(&manifest)
    changed["MANIFEST"] = manifest
    let log = FileName.log(store.logNumber).text
    if var bytes = changed[log], bytes != files[log] {
      repairLog(&bytes)
      changed[log] = bytes
    }
  }

  private func replace(_ old: [UInt8], with new: [UInt8], in bytes: inout [UInt8]) {
    guard old.count == new.count else { return }
    for offset in 0..<max(bytes.count - old.count, 0)
    where Array(bytes[offset..<offset + old.count]) == old {
      bytes.replaceSubrange(offset..<offset + old.count, with: new)
    }
  }

  private func put(_ checksum: UInt32, at offset: Int, in bytes: inout [UInt8]) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index))
    }
  }

  private func repairManifest(_ bytes: inout [UInt8]) {
    let end = manifestBody.upperBound
    guard end + 4 <= bytes.count / 2 else { return }
    put(CRC32C.checksum(Array(bytes[..<end]).rawBytes), at: end, in: &bytes)
    // The second copy would be the way out.
    let half = bytes.count / 2
    bytes.replaceSubrange(half..., with: Array(bytes[..<half]))
  }

  private func repairLog(_ bytes: inout [UInt8]) {
    guard let identity = identity(of: files["MANIFEST"] ?? []) else { return }
    var chain = UInt32(u32(files[FileName.log(store.logNumber).text] ?? [], at: 92))
    for record in store.records {
      let start = record.lowerBound
      let count = min(u32(bytes, at: start + 4), bytes.count - start - RecordHead.byteCount)
      let payload = Array(
        bytes[start + RecordHead.byteCount..<start + RecordHead.byteCount + count])
      put(chain, at: start + 8, in: &bytes)
      put(CRC32C.checksum(payload.rawBytes), at: start + 32, in: &bytes)
      let place = LogPlace(store: identity, log: store.logNumber, offset: start)
      chain = place.checksum(Array(bytes[start..<start + 36]).rawBytes)
      put(chain, at: start + 36, in: &bytes)
    }
  }

  private func repairSegment(_ name: String, _ bytes: inout [UInt8]) {
    guard let identity = identity(of: bytes) else { return }
    for (head, body) in frames(of: name) {
      let stored = min(u32(bytes, at: head.lowerBound + 8), bytes.count - body.lowerBound)
      let content = Array(bytes[body.lowerBound..<body.lowerBound + stored])
      put(CRC32C.checksum(content.rawBytes), at: head.lowerBound + 16, in: &bytes)
      var checksum = CRC32C()
      checksum.update(u64: identity.high)
      checksum.update(u64: identity.low)
      checksum.update(u64: UInt64(head.lowerBound))
      checksum.update(Array(bytes[head.lowerBound..<head.lowerBound + 20]).rawBytes)
      put(checksum.value, at: head.lowerBound + 20, in: &bytes)
    }
    let footer = Array(bytes.suffix(SegmentFooter.byteCount))
    put(SegmentFooter.checksum(of: footer.rawBytes), at: bytes.count - 4, in: &bytes)
  }

  private func identity(of bytes: [UInt8]) -> StoreIdentity? {
    var reader = ByteReader(bytes.rawBytes, structure: "file header")
    do throws(FormatError) {
      try reader.skip(16)
      return StoreIdentity(high: try reader.u64(), low: try reader.u64())
    } catch {
      return nil
    }
  }
}
