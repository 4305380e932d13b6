/// A store of keys and values that can go over its memos where they are.
protocol ScanningStore: Store {
  /// Whether keys are those of the inverted time: newest first is forward then.
  static var isInverted: Bool { get }
  /// Goes over memos until `visit` says that it is enough.
  ///
  /// - Parameters:
  ///   - direction: Order.
  ///   - microseconds: Only those that are not newer; `nil` is all.
  ///   - visit: Gets the key, as ``Record`` makes it, and the value.
  /// - Throws: When the engine refuses.
  func scan(
    _ direction: Direction, notAfter microseconds: Int64?,
    _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(BenchmarkError)
}

extension ScanningStore {
  func latest(_ count: Int) throws(BenchmarkError) -> [SampleMemo] {
    var result: [SampleMemo] = []
    result.reserveCapacity(count)
    try scan(.newestFirst, notAfter: nil) { key, value in
      result.append(Record.decode(key: key, value: value, isInverted: Self.isInverted))
      return result.count < count
    }
    return result
  }

  func tally(
    _ direction: Direction, notAfter microseconds: Int64?, limit: Int
  ) throws(BenchmarkError) -> Tally {
    var tally = Tally()
    try scan(direction, notAfter: microseconds) { key, value in
      Record.tally(key: key, value: value, isInverted: Self.isInverted, into: &tally)
      return tally.count < limit
    }
    return tally
  }
}
