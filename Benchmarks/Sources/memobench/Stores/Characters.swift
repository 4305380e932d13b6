extension [UInt8] {
  /// Lends the bytes to a C function that calls them characters.
  func withCharacters<Result>(
    _ body: (UnsafeBufferPointer<CChar>) throws -> Result
  ) rethrows -> Result {
    try withUnsafeBytes { try body($0.bindMemory(to: CChar.self)) }
  }
}
