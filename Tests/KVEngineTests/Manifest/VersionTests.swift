import KVTestSupport
import Testing

@testable import KVEngine

/// Which segments a read has to look at.
@Suite struct VersionTests {
  private func segment(_ number: UInt64, _ bounds: [SpaceBounds]) -> SegmentDescriptor {
    SegmentDescriptor(
      number: number, identity: StoreIdentity(high: 0, low: number), byteCount: 1,
      footerChecksum: 0, tier: 0, lowestSequence: number, highestSequence: 10 * number,
      spaces: bounds)
  }

  private func version(_ segments: [SegmentDescriptor]) -> Version {
    OpenSegments(files: MemoryFileSystem(), folder: "/store", options: DatabaseOptions())
      .version(of: segments)
  }

  private func bounds(_ first: [UInt8], _ last: [UInt8]) -> SpaceBounds {
    var summary = SpaceSummary(code: first[0], firstKey: first)
    summary.lastKey = last
    summary.entryCount = 2
    return SpaceBounds(summary)
  }

  @Test func segmentsAreNewestFirst() {
    let version = version([3, 1, 7, 2].map { segment($0, []) })
    #expect(version.segments.map(\.descriptor.number) == [7, 3, 2, 1])
  }

  @Test func exactlyTheSegmentsWhoseBoundsMeetTheRangeAreCandidates() {
    let version = version([
      segment(1, [bounds([64, 10], [64, 20])]), segment(2, [bounds([64, 20], [64, 30])]),
      segment(3, [bounds([1, 0], [1, 99]), bounds([64, 15], [64, 15])]),
      segment(4, [bounds([65, 10], [65, 20])]),
    ])
    func numbers(_ lower: [UInt8], _ upper: [UInt8]?) -> [UInt64] {
      version.candidates(from: lower, upTo: upper).map(\.segment.descriptor.number)
    }
    #expect(numbers([64], [65]) == [3, 2, 1])
    #expect(numbers([64, 20], [64, 20, 0]) == [2, 1])
    #expect(numbers([64, 16], [64, 20]) == [1])
    #expect(numbers([64, 31], nil) == [])
    #expect(numbers([64, 30, 0], [65]) == [])
    #expect(numbers([64], [64, 10]) == [])
    #expect(numbers([64], [64, 10, 0]) == [1])
    #expect(numbers([1], [2]) == [3])
    #expect(numbers([2], [3]) == [] && numbers([], nil) == [])
    #expect(numbers([64, 15], [64, 15, 0]) == [3, 1])
    #expect(numbers([65, 20], [65, 20, 0]) == [4])
  }

  @Test func noKeyOfASegmentIsOutsideOfItsWidenedBounds() {
    var random = SeededGenerator(seed: 91)
    for round in 0..<500 {
      // Long keys of few values, so that bounds are cut and raised in every way.
      let code: UInt8 = [1, 64, 254][round % 3]
      let keys = (0..<2).map { _ -> [UInt8] in
        let length = Int.random(in: 1...130, using: &random)
        let start = [UInt8](repeating: 0xFF, count: Int.random(in: 0...70, using: &random))
        return [code] + (start + random.bytes(length).map { $0 | 0xF0 }).prefix(length)
      }.sorted { compareBytes($0, $1) < 0 }
      let bounds = bounds(keys[0], keys[1])
      #expect(bounds.lower.count <= Limits.Manifest.boundByteCount)
      #expect(bounds.upper.count <= Limits.Manifest.boundByteCount)
      for key in keys {
        #expect(compareBytes(bounds.lower, key) <= 0, "round \(round)")
        #expect(compareBytes(bounds.upper, key) >= 0, "round \(round)")
      }
    }
  }
}
