// liblz4 of the system, where the trait SystemLZ4 asks for it.

#if SystemLZ4 && canImport(CLZ4)
  internal import CLZ4

  /// The codec of liblz4.
  enum LZ4Library {
    static func compress(_ source: RawSpan, into target: inout MutableRawSpan) -> Int? {
      let count = unsafe target.withUnsafeMutableBytes { target in
        unsafe source.withUnsafeBytes { source in
          unsafe LZ4_compress_default(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self),
            Int32(source.count), Int32(target.count))
        }
      }
      return count > 0 ? Int(count) : nil
    }
  }

  /// The fast or the tight encoder of liblz4.
  @safe
  final class LZ4LibraryEncoder: LZ4Encoder {
    /// Of LZ4-HC; the gain of higher levels is below 1 %.
    private static let level: Int32 = 9

    private let isTight: Bool
    private let work: UnsafeMutableRawPointer
    /// The state after the dictionary was loaded.
    ///
    /// Copying it takes a third of the time of loading the dictionary for each block.
    private let template: UnsafeMutableRawPointer
    private let stateByteCount: Int

    init(isTight: Bool) {
      self.isTight = isTight
      stateByteCount =
        unsafe isTight ? MemoryLayout<LZ4_streamHC_t>.size : MemoryLayout<LZ4_stream_t>.size
      unsafe work = .allocate(byteCount: stateByteCount, alignment: 16)
      unsafe template = .allocate(byteCount: stateByteCount, alignment: 16)
      if isTight {
        unsafe _ = LZ4_initStreamHC(work, stateByteCount)
        unsafe _ = LZ4_initStreamHC(template, stateByteCount)
      } else {
        unsafe _ = LZ4_initStream(work, stateByteCount)
        unsafe _ = LZ4_initStream(template, stateByteCount)
      }
    }

    deinit {
      unsafe work.deallocate()
      unsafe template.deallocate()
    }

    /// liblz4 keeps the address: sources that begin with the dictionary lie in the same place.
    func use(dictionary: RawSpan) {
      unsafe dictionary.withUnsafeBytes { bytes in
        let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        if isTight {
          let state = unsafe template.assumingMemoryBound(to: LZ4_streamHC_t.self)
          unsafe LZ4_resetStreamHC_fast(state, Self.level)
          unsafe _ = LZ4_loadDictHC(state, start, Int32(bytes.count))
        } else {
          let state = unsafe template.assumingMemoryBound(to: LZ4_stream_t.self)
          unsafe _ = LZ4_loadDict(state, start, Int32(bytes.count))
        }
      }
    }

    func encode(_ source: RawSpan, from start: Int, into target: inout MutableRawSpan) -> Int? {
      let count = unsafe target.withUnsafeMutableBytes { target in
        unsafe source.withUnsafeBytes { source in
          let output = unsafe target.baseAddress?.assumingMemoryBound(to: CChar.self)
          let input = unsafe source[start...].assumingMemoryBound(to: CChar.self).baseAddress
          let (sourceCount, room) = (Int32(source.count - start), Int32(target.count))
          if start == 0 {
            return unsafe isTight
              ? LZ4_compress_HC_extStateHC(work, input, output, sourceCount, room, Self.level)
              : LZ4_compress_fast_extState(work, input, output, sourceCount, room, 1)
          }
          unsafe work.copyMemory(from: template, byteCount: stateByteCount)
          if isTight {
            let state = unsafe work.assumingMemoryBound(to: LZ4_streamHC_t.self)
            return unsafe LZ4_compress_HC_continue(state, input, output, sourceCount, room)
          }
          let state = unsafe work.assumingMemoryBound(to: LZ4_stream_t.self)
          return unsafe LZ4_compress_fast_continue(state, input, output, sourceCount, room, 1)
        }
      }
      return count > 0 ? Int(count) : nil
    }
  }
#endif
