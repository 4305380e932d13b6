import KVEngine
import KVTestSupport
import Testing

/// The bytes of memory files against a plain array.
@Suite struct PagedBytesTests {
  private static func all(_ bytes: PagedBytes) -> [UInt8] {
    read(bytes, at: 0, count: bytes.byteCount + 1)
  }

  private static func read(_ bytes: PagedBytes, at offset: Int, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      read = bytes.read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func randomWritesEqualThoseOfAnArray(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (paged, plain) = (PagedBytes(), [UInt8]())
    var copies: [(PagedBytes, [UInt8])] = []
    for _ in 0..<40 {
      let offset = Int.random(in: 0..<20_000, using: &generator)
      let bytes = generator.bytes(Int.random(in: 0..<9000, using: &generator))
      bytes.withUnsafeBytes { paged.write($0, at: offset) }
      if !bytes.isEmpty {
        plain += [UInt8](repeating: 0, count: max(0, offset + bytes.count - plain.count))
        plain.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      }
      let start = Int.random(in: 0..<30_000, using: &generator)
      let expected = Array(plain.dropFirst(start).prefix(5000))
      #expect(Self.read(paged, at: start, count: 5000) == expected, "seed \(seed)")
      if generator.next() % 8 == 0 { copies.append((paged, plain)) }
    }
    #expect(Self.all(paged) == plain, "seed \(seed)")
    for (paged, plain) in copies { #expect(Self.all(paged) == plain, "copy, seed \(seed)") }
  }

  @Test func extendAddsZerosAndNeverShortens() {
    var bytes = PagedBytes()
    [1, 2, 3].withUnsafeBytes { bytes.write(UnsafeRawBufferPointer(rebasing: $0[..<1]), at: 0) }
    bytes.extend(to: 5000)
    bytes.extend(to: 10)
    #expect(Self.all(bytes) == [1] + [UInt8](repeating: 0, count: 4999))
  }
}
