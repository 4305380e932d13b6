/// Real or generated texts, from which any number of memos are made: repeated with other ids and
/// later times.
final class Corpus {
  /// What the memos come from, for the table.
  let source: String
  private let bytes: UnsafeMutableRawBufferPointer
  private let ends: [Int]
  private let times: [Int64]
  private let zones: [Int32]
  /// Microseconds from one repetition to the next.
  private let span: Int64

  /// Takes texts in the order of their times.
  init(source: String, texts: [UInt8], ends: [Int], times: [Int64], zones: [Int32]) {
    self.source = source
    bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(texts.count, 1), alignment: 8)
    bytes.copyBytes(from: texts)
    self.ends = ends
    self.times = times
    self.zones = zones
    span = (times.last ?? 0) - (times.first ?? 0) + 86_400_000_000
  }

  deinit {
    bytes.deallocate()
  }

  var textCount: Int { ends.count }

  /// The memo with a number, counted from the oldest.
  func memo(_ number: Int) -> NewMemo { memo(number, text: number) }

  /// The memo with a number, and with the text of another one.
  func memo(_ number: Int, text: Int) -> NewMemo {
    let textPlace = text % ends.count
    let start = textPlace == 0 ? 0 : ends[textPlace - 1]
    return NewMemo(
      id: Identity(number), arrival: number, microseconds: time(number),
      zoneSeconds: zones[number % ends.count],
      body: UnsafeRawBufferPointer(rebasing: bytes[start..<ends[textPlace]]))
  }

  /// When the memo with a number was written.
  func time(_ number: Int) -> Int64 {
    times[number % ends.count] + Int64(number / ends.count) * span
  }

  /// What a read has to give back for the memo with a number.
  func expected(_ number: Int) -> SampleMemo { expected(number, text: number) }

  func expected(_ number: Int, text: Int) -> SampleMemo {
    let memo = memo(number, text: text)
    return SampleMemo(
      id: memo.id, microseconds: memo.microseconds, zoneSeconds: memo.zoneSeconds,
      body: String(decoding: memo.body, as: UTF8.self))
  }

  /// What a read of memos has to see.
  func tally(_ numbers: some Sequence<Int>, _ texts: Texts = Texts()) -> Tally {
    var tally = Tally()
    for number in numbers {
      let memo = memo(number, text: texts.text(number))
      tally.add(microseconds: memo.microseconds, idHead: memo.id.high, body: memo.body)
    }
    return tally
  }

  /// The number of the newest memo of the first `count` that is not newer than a time.
  func newest(notAfter microseconds: Int64, of count: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if time(middle) <= microseconds { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }
}
