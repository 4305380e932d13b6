import Testing

@testable import KVEngine

@Suite struct BlockCacheTests {
  private func block(_ byte: UInt8, count: Int = 904) -> ByteBuffer {
    ByteBuffer(copying: [UInt8](repeating: byte, count: count).rawBytes)
  }

  @Test func aBlockIsFoundUnderItsSegmentAndOffset() {
    let cache = BlockCache(byteCount: 10_000)
    let first = block(1)
    cache.insert(first, segment: 1, offset: 48)
    #expect(cache.block(segment: 1, offset: 48) === first)
    #expect(cache.block(segment: 1, offset: 49) == nil)
    #expect(cache.block(segment: 2, offset: 48) == nil)
  }

  @Test func theBlockNotUsedForLongestGoesFirst() {
    let cache = BlockCache(byteCount: 4000)
    for number in 0..<4 { cache.insert(block(UInt8(number)), segment: 1, offset: number) }
    #expect(cache.byteCount == 4000)
    #expect(cache.block(segment: 1, offset: 0) != nil)
    cache.insert(block(4), segment: 1, offset: 4)
    let found = (0...4).filter { cache.block(segment: 1, offset: $0) != nil }
    #expect(found == [0, 2, 3, 4])
  }

  @Test func blocksThatAreTooLargeAndCachesWithoutRoomKeepNothing() {
    let cache = BlockCache(byteCount: 4000)
    cache.insert(block(1, count: 905), segment: 1, offset: 0)
    #expect(cache.block(segment: 1, offset: 0) == nil)
    for byteCount in [0, -1] {
      let none = BlockCache(byteCount: byteCount)
      none.insert(block(1, count: 0), segment: 1, offset: 0)
      #expect(none.block(segment: 1, offset: 0) == nil)
      #expect(none.byteCount == 0)
    }
  }

  @Test func theSameBlockIsKeptOnce() {
    let cache = BlockCache(byteCount: 10_000)
    let first = block(1)
    cache.insert(first, segment: 1, offset: 0)
    cache.insert(block(2), segment: 1, offset: 0)
    #expect(cache.byteCount == 1000)
    #expect(cache.block(segment: 1, offset: 0) === first)
  }

  /// Against a list that is searched and moved by hand.
  @Test(arguments: [UInt64](1...4))
  func randomUseAgreesWithAPlainList(seed: UInt64) {
    var random = SegmentTestRandom(seed: seed)
    let bound = 3000
    let cache = BlockCache(byteCount: bound)
    var list: [(offset: Int, block: ByteBuffer)] = []  // least recently used first
    for step in 0..<3000 {
      let offset = Int.random(in: 0..<12, using: &random)
      let place = list.firstIndex { $0.offset == offset }
      #expect(
        cache.block(segment: 9, offset: offset) === place.map { list[$0].block },
        "seed \(seed) step \(step)")
      if let place {
        list.append(list.remove(at: place))
      } else {
        let new = block(0, count: Int.random(in: 1...800, using: &random))
        cache.insert(new, segment: 9, offset: offset)
        guard new.byteCount + 96 <= bound / 4 else { continue }
        list.append((offset, new))
        while list.reduce(0, { $0 + $1.block.byteCount + 96 }) > bound { list.removeFirst() }
      }
      #expect(cache.byteCount == list.reduce(0) { $0 + $1.block.byteCount + 96 })
    }
  }

  @Test func threadsShareACache() async {
    let cache = BlockCache(byteCount: 20_000)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for step in 0..<2000 {
            let offset = (step * (task + 3)) % 40
            if let found = cache.block(segment: 1, offset: offset) {
              #expect(found.byteCount == offset + 500)
            } else {
              cache.insert(ByteBuffer(byteCount: offset + 500), segment: 1, offset: offset)
            }
          }
        }
      }
    }
    #expect(cache.byteCount <= 20_000)
  }
}
