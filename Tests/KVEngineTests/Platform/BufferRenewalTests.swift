import Testing

@testable import KVEngine

@Suite struct BufferRenewalTests {
  @Test func memoryIsUsedAgainWhenItFits() {
    var buffer = ByteBuffer(byteCount: 1000)
    let identity = ObjectIdentifier(buffer)
    for byteCount in [1000, 0, 1, 999] {
      ByteBuffer.renew(&buffer, byteCount: byteCount)
      #expect(ObjectIdentifier(buffer) == identity)
      #expect(buffer.byteCount == byteCount)
    }
    ByteBuffer.renew(&buffer, byteCount: 1001)
    #expect(buffer.byteCount == 1001)
  }

  @Test func memoryThatOthersSeeIsLeftToThem() {
    let bytes: [UInt8] = [1, 2, 3]
    let shared = ByteBuffer(copying: bytes.rawBytes)
    var buffer = shared
    ByteBuffer.renew(&buffer, byteCount: 2)
    #expect(buffer !== shared)
    #expect([UInt8](copying: shared.bytes) == bytes)
  }

  @Test func theMemoryOfAHugeBlockIsNotKeptForSmallOnes() {
    var buffer = ByteBuffer(byteCount: 4 << 20)
    let identity = ObjectIdentifier(buffer)
    ByteBuffer.renew(&buffer, byteCount: 2 << 20)
    #expect(ObjectIdentifier(buffer) == identity)
    weak let huge = buffer
    ByteBuffer.renew(&buffer, byteCount: 4096)
    #expect(huge == nil)
  }
}
