import CSystemLZ4
import Glibc
import SwiftLZ4

/// Our LZ4 codec against liblz4: blocks of real texts, with and without a dictionary.
enum Codec: Workload {
  static let name = "codec"
  static let summary = "LZ4 in Swift against liblz4: decode, fast and dense encode, ratio"

  private static let dictionaryByteCount = 32 << 10
  private static let sampleByteCount = 2 << 20

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    var corpora = [("en", bench.corpus)]
    let root = String(
      #filePath.dropLast("/Benchmarks/Sources/memobench/Workloads/Codec.swift".count))
    let path = root + "/../shared/data/memos-ja.jsonl.gz"
    if Files.exists(path) { corpora.append(("ja", try Corpus.reading(path))) }
    var rows: [Row] = []
    for (language, corpus) in corpora {
      let text = text(of: corpus)
      for byteCount in [4 << 10, 16 << 10] {
        for hasDictionary in [false, true] {
          let name = "\(language) \(byteCount >> 10) KiB" + (hasDictionary ? " dictionary" : "")
          rows += try self.rows(
            BlockBench(text, byteCount, hasDictionary ? dictionaryByteCount : 0), name,
            rounds: bench.samples(40))
        }
      }
    }
    return rows
  }

  private static func rows(
    _ blocks: BlockBench, _ name: String, rounds: Int
  ) throws(BenchmarkError) -> [Row] {
    var rows: [Row] = []
    // Decoding is measured with the blocks that liblz4 makes.
    var encoded: [[UInt8]] = []
    for isTight in [false, true] {
      var row = Row(
        name: "codec \(isTight ? "dense" : "fast") \(name)", summary: "time to encode one block",
        subject: "swift", goals: isTight ? [] : [.times(1 / 0.6, of: "liblz4")])
      let library = LibraryEncoder(isTight: isTight)
      let own: any LZ4Encoder = isTight ? LZ4DenseEncoder() : LZ4FastEncoder()
      for (name, encoder) in [("liblz4", library), ("swift", own)] as [(String, any LZ4Encoder)] {
        let result = blocks.encode(with: encoder, rounds: isTight ? max(rounds / 4, 3) : rounds)
        try check(blocks.count == result.blocks.count, "\(name) made no block")
        try check(blocks.decodeLibrary(result.blocks, rounds: 0) != nil, "\(name), liblz4 decodes")
        try check(blocks.decodeOwn(result.blocks, rounds: 0) != nil, "\(name), Swift decodes")
        let ratio = Double(blocks.totalByteCount) / Double(result.blocks.map(\.count).reduce(0, +))
        let note = "ratio \(Format.decimal(ratio, digits: 3)), " + blocks.speed(result.samples)
        row.cells.append(Cell(name, result.samples, share: 0.1, note: note))
        if name == "liblz4" { encoded = result.blocks }
      }
      rows.append(row)
    }
    var row = Row(
      name: "codec decode \(name)", summary: "time to decode one dense block of liblz4",
      subject: "swift", goals: [.times(1 / 0.7, of: "liblz4")])
    for (name, samples) in [
      ("liblz4", blocks.decodeLibrary(encoded, rounds: rounds)),
      ("swift", blocks.decodeOwn(encoded, rounds: rounds)),
    ] {
      guard let samples else { throw BenchmarkError("\(name) refuses a block") }
      row.cells.append(Cell(name, samples, share: 0.1, note: blocks.speed(samples)))
    }
    return [row] + rows
  }

  private static func text(of corpus: Corpus) -> [UInt8] {
    var text: [UInt8] = []
    var number = 0
    while text.count < dictionaryByteCount + sampleByteCount {
      text += corpus.memo(number).body
      number += 1
    }
    return text
  }
}

/// Processor time of this thread in nanoseconds: others on the machine count less in it.
private func threadTime() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Blocks of one size of a text, behind a dictionary of its first bytes.
private final class BlockBench {
  let count: Int
  private let byteCount: Int
  private let start: Int
  private let text: [UInt8]
  /// The dictionary, and the block in work.
  private let memory: UnsafeMutableRawBufferPointer
  private let target: UnsafeMutableRawBufferPointer

  init(_ text: [UInt8], _ byteCount: Int, _ dictionaryByteCount: Int) {
    self.text = Array(text.dropFirst(32 << 10))
    self.byteCount = byteCount
    start = dictionaryByteCount
    count = self.text.count / byteCount
    memory = .allocate(byteCount: start + byteCount, alignment: 16)
    memory.copyBytes(from: text.prefix(start))
    target = .allocate(byteCount: 2 * byteCount, alignment: 16)
  }

  deinit {
    memory.deallocate()
    target.deallocate()
  }

  var totalByteCount: Int { count * byteCount }

  /// Speed at the duration of one block that a tenth of the rounds do not pass.
  func speed(_ samples: Samples) -> String {
    let speed = Double(byteCount) * 1000 / Double(max(samples.percentile(0.1), 1))
    return "\(Format.decimal(speed, digits: 0)) MB/s"
  }

  private func fill(_ number: Int) {
    text.withUnsafeBytes { text in
      let block = UnsafeRawBufferPointer(
        rebasing: text[number * byteCount..<(number + 1) * byteCount])
      UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: block)
    }
  }

  /// The blocks that an encoder makes, and how long one takes in each round.
  func encode(
    with encoder: any LZ4Encoder, rounds: Int
  ) -> (blocks: [[UInt8]], samples: Samples) {
    var encoder = encoder
    if start > 0 {
      let dictionary = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<start])
      encoder.use(dictionary: RawSpan(_unsafeBytes: dictionary))
    }
    var blocks: [[UInt8]] = []
    var samples = Samples()
    for round in 0...rounds {
      let begin = threadTime()
      for number in 0..<count {
        fill(number)
        var span = MutableRawSpan(_unsafeBytes: target)
        let source = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory))
        let size = encoder.encode(source, from: start, into: &span)
        if round == 0, let size { blocks.append(Array(target[..<size])) }
      }
      if round > 0 { samples.add((threadTime() - begin) / count) }
    }
    return (blocks, samples)
  }

  func decodeOwn(_ blocks: [[UInt8]], rounds: Int) -> Samples? {
    decode(blocks, rounds: rounds) { block in
      var span = MutableRawSpan(_unsafeBytes: memory)
      return LZ4Decoder.decode(RawSpan(_unsafeBytes: block), into: &span, from: start)
    }
  }

  func decodeLibrary(_ blocks: [[UInt8]], rounds: Int) -> Samples? {
    decode(blocks, rounds: rounds) { block in
      let dictionary = memory.baseAddress?.assumingMemoryBound(to: CChar.self)
      let size = LZ4_decompress_safe_usingDict(
        block.baseAddress?.assumingMemoryBound(to: CChar.self), dictionary.map { $0 + start },
        Int32(block.count), Int32(byteCount), dictionary, Int32(start))
      return size == byteCount
    }
  }

  /// Decodes all blocks, compares them in the round that does not count, and takes the times.
  private func decode(
    _ blocks: [[UInt8]], rounds: Int, _ decode: (UnsafeRawBufferPointer) -> Bool
  ) -> Samples? {
    var samples = Samples()
    for round in 0...rounds {
      let begin = threadTime()
      for (number, block) in blocks.enumerated() {
        guard block.withUnsafeBytes(decode) else { return nil }
        let expected = text[number * byteCount..<(number + 1) * byteCount]
        guard round > 0 || memory[start...].elementsEqual(expected) else { return nil }
      }
      if round > 0 { samples.add((threadTime() - begin) / count) }
    }
    return samples
  }
}

/// The fast encoder of liblz4, or LZ4-HC at level 9.
private final class LibraryEncoder: LZ4Encoder {
  private let isTight: Bool
  private let byteCount: Int
  private let work: UnsafeMutableRawPointer
  /// The state after the dictionary was loaded.
  private let template: UnsafeMutableRawPointer

  init(isTight: Bool) {
    self.isTight = isTight
    byteCount = isTight ? MemoryLayout<LZ4_streamHC_t>.size : MemoryLayout<LZ4_stream_t>.size
    work = .allocate(byteCount: byteCount, alignment: 16)
    template = .allocate(byteCount: byteCount, alignment: 16)
    for state in [work, template] {
      if isTight { LZ4_initStreamHC(state, byteCount) } else { LZ4_initStream(state, byteCount) }
    }
  }

  deinit {
    work.deallocate()
    template.deallocate()
  }

  func use(dictionary: RawSpan) {
    dictionary.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      if isTight {
        let state = template.assumingMemoryBound(to: LZ4_streamHC_t.self)
        LZ4_resetStreamHC_fast(state, 9)
        LZ4_loadDictHC(state, start, Int32(bytes.count))
      } else {
        LZ4_loadDict(template.assumingMemoryBound(to: LZ4_stream_t.self), start, Int32(bytes.count))
      }
    }
  }

  func encode(_ source: RawSpan, from start: Int, into target: inout MutableRawSpan) -> Int? {
    let count = target.withUnsafeMutableBytes { target in
      source.withUnsafeBytes { source in
        let output = target.baseAddress?.assumingMemoryBound(to: CChar.self)
        let input = source.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) }
        let (size, room) = (Int32(source.count - start), Int32(target.count))
        if start == 0 {
          return isTight
            ? LZ4_compress_HC_extStateHC(work, input, output, size, room, 9)
            : LZ4_compress_fast_extState(work, input, output, size, room, 1)
        }
        work.copyMemory(from: template, byteCount: byteCount)
        if isTight {
          let state = work.assumingMemoryBound(to: LZ4_streamHC_t.self)
          return LZ4_compress_HC_continue(state, input, output, size, room)
        }
        let state = work.assumingMemoryBound(to: LZ4_stream_t.self)
        return LZ4_compress_fast_continue(state, input, output, size, room, 1)
      }
    }
    return count > 0 ? Int(count) : nil
  }
}
