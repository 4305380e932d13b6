/// A memo on its way into a store; borrows its text from the corpus.
struct NewMemo {
  let id: Identity
  /// Place among memos of the same time.
  let arrival: Int
  let microseconds: Int64
  let zoneSeconds: Int32
  let body: UnsafeRawBufferPointer
}

/// A memo as an app wants it: what reads that decode give back, the same for every engine.
struct SampleMemo: Hashable {
  let id: Identity
  let microseconds: Int64
  let zoneSeconds: Int32
  let body: String
}

/// What a read that decodes nothing has seen: equal for equal memos in the same order.
struct Tally: Equatable {
  private(set) var count = 0
  private(set) var byteCount = 0
  private var trace: UInt64 = 0

  /// Adds a memo.
  ///
  /// Touches time, id and the last byte of the text.
  @inline(__always)
  mutating func add(microseconds: Int64, idHead: UInt64, body: UnsafeRawBufferPointer) {
    count += 1
    byteCount += body.count
    let last = body.last ?? 0
    trace =
      (trace ^ UInt64(bitPattern: microseconds) ^ idHead) &* 0x0000_0100_0000_01B3
      &+ UInt64(body.count) &+ UInt64(last)
  }

  /// Adds a decoded memo.
  mutating func add(_ memo: SampleMemo) {
    var body = memo.body
    body.withUTF8 {
      add(
        microseconds: memo.microseconds, idHead: memo.id.high, body: UnsafeRawBufferPointer($0))
    }
  }

  /// All of it in one number, for another process.
  var digest: Int { Int(truncatingIfNeeded: trace ^ UInt64(count) << 32 ^ UInt64(byteCount)) }
}
