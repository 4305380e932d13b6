import Foundation
import KVTestSupport

@testable import LZ4Blocks

/// Bytes to compress, and ways to call what compresses and decodes them.
enum BlockSample {
  /// As many seeds, or a fifth of them with the first.
  static func seeds(_ count: Int) -> [UInt64] {
    Thoroughness.part(of: 1..<count + 1, step: 5, offset: 1).map(UInt64.init)
  }

  /// Real text: the description of the format, and memos where they are at hand.
  static let text: [UInt8] = {
    let root = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let bytes = ["FORMAT.md", "../shared/data/memos-edge.jsonl"].flatMap { path in
      (try? Data(contentsOf: root.appending(path: path))).map { [UInt8]($0.prefix(1 << 19)) } ?? []
    }
    // Enough for all tests.
    return bytes + generated(seed: 1, max(0, 200_000 - bytes.count))
  }()

  /// Letters and repeats of what is there already, near and far.
  static func generated(seed: UInt64, _ count: Int, letters: UInt8 = 26) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 400)
    while bytes.count < count {
      if !bytes.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
        // As many near ones as far ones, and short ones as long ones.
        let farthest = 1 << Int.random(in: 1...16, using: &random)
        let longest = 1 << Int.random(in: 1...8, using: &random)
        let start = max(0, bytes.count - Int.random(in: 1...farthest, using: &random))
        for index in 0..<Int.random(in: 1...longest, using: &random) {
          bytes.append(bytes[start + index])
        }
      } else {
        bytes.append(UInt8.random(in: 0..<letters, using: &random))
      }
    }
    return Array(bytes.prefix(count))
  }

  /// An encoder of our own codec.
  static func makeEncoder(isTight: Bool) -> any LZ4Encoder {
    if isTight { LZ4DenseEncoder() } else { LZ4FastEncoder() }
  }

  /// A block of the bytes behind `start`, `nil` when it does not fit into `room` bytes.
  static func encode(
    _ source: [UInt8], from start: Int = 0, with encoder: inout any LZ4Encoder, room: Int? = nil
  ) -> [UInt8]? {
    let room = room ?? source.count - start + (source.count - start) / 200 + 32
    // Nothing may touch what lies behind the target.
    var target = [UInt8](repeating: 0xA5, count: room + 32)
    let count = target.withUnsafeMutableBytes { bytes in
      let front = UnsafeMutableRawBufferPointer(rebasing: bytes[..<room])
      var span = MutableRawSpan(_unsafeBytes: front)
      return source.withUnsafeBytes {
        encoder.encode(RawSpan(_unsafeBytes: $0), from: start, into: &span)
      }
    }
    precondition(target[room...].allSatisfy { $0 == 0xA5 }, "written behind the target")
    return count.map { Array(target[..<$0]) }
  }

  typealias Decoder = (RawSpan, inout MutableRawSpan, Int) -> Bool

  /// What a block decodes to behind a dictionary, `nil` when it is refused.
  static func decode(
    _ block: [UInt8], byteCount: Int, behind dictionary: [UInt8] = [],
    with decoder: Decoder = { LZ4Decoder.decode($0, into: &$1, from: $2) }
  ) -> [UInt8]? {
    let end = dictionary.count + byteCount
    var memory = dictionary + [UInt8](repeating: 0xA5, count: byteCount + 64)
    let isValid = memory.withUnsafeMutableBytes { bytes in
      let front = UnsafeMutableRawBufferPointer(rebasing: bytes[..<end])
      var span = MutableRawSpan(_unsafeBytes: front)
      // At the end of an allocation of its own, so that a sanitizer sees what reads beyond.
      return Array(block).withUnsafeBytes {
        decoder(RawSpan(_unsafeBytes: $0), &span, dictionary.count)
      }
    }
    precondition(memory[end...].allSatisfy { $0 == 0xA5 }, "written behind the target")
    precondition(memory.starts(with: dictionary), "written in front of the target")
    return isValid ? Array(memory[dictionary.count..<end]) : nil
  }

  /// The rules of FORMAT.md 7.8, one by one and byte by byte.
  static func decodeByTheRules(
    _ block: [UInt8], byteCount: Int, behind dictionary: [UInt8] = []
  ) -> [UInt8]? {
    if byteCount == 0 { return block == [0] ? [] : nil }
    var rest = block[...]
    var bytes = dictionary
    func count(_ nibble: UInt8) -> Int? {
      var sum = Int(nibble)
      while nibble == 15 {
        guard let byte = rest.popFirst() else { return nil }
        sum += Int(byte)
        if byte != 255 { break }
      }
      return sum
    }
    var hasMatch = false
    while let token = rest.popFirst() {
      guard let literals = count(token >> 4), literals <= rest.count else { return nil }
      bytes += rest.prefix(literals)
      rest = rest.dropFirst(literals)
      if rest.isEmpty {
        guard literals >= 5 || !hasMatch else { return nil }
        let decoded = Array(bytes.dropFirst(dictionary.count))
        return decoded.count == byteCount ? decoded : nil
      }
      guard let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
      let offset = Int(low) | Int(high) << 8
      guard offset > 0, offset <= bytes.count, let extra = count(token & 15) else { return nil }
      let left = dictionary.count + byteCount - bytes.count
      guard left >= 12, extra + 4 <= left else { return nil }
      for _ in 0..<(extra + 4) { bytes.append(bytes[bytes.count - offset]) }
      hasMatch = true
    }
    return nil
  }
}
