package import KVEngine

/// The beginning of a memo, without its payload.
package struct MemoExcerpt: Sendable {
  /// Where the memo is.
  package let key: MemoKey
  package let id: MemoID
  package let createdAt: MemoTimestamp
  /// The text, or the beginning of it.
  package let text: String
  /// Whether that is all of the text.
  package let isComplete: Bool
}

extension MemoTimeline {
  /// The beginnings of the memos that follow a position, newest first.
  ///
  /// - Parameters:
  ///   - count: At most this many.
  ///   - byteCount: The most bytes of UTF-8 that a text has; it ends between two characters.
  ///   - position: The last memo of those before; `nil` begins with the newest.
  /// - Returns: The beginnings; fewer than `count` when there are no more.
  /// - Throws: ``MemoError/database(_:)``, ``MemoError/damagedRecord(_:)``.
  /// - Complexity: O(`count`).
  package func excerpts(
    _ count: Int, byteCount: Int, after position: MemoKey? = nil
  ) throws(MemoError) -> [MemoExcerpt] {
    try briefly { snapshot throws(MemoError) in
      var excerpts: [MemoExcerpt] = []
      var cursor = try snapshot.memos(after: position)
      while excerpts.count < count, try cursor.moveForward() {
        excerpts.append(try cursor.excerpt(byteCount: byteCount))
      }
      return excerpts
    }
  }
}

extension MemoRecord {
  /// Reads the beginning of a stored memo; nothing behind its text is looked at.
  ///
  /// - Throws: As ``decode(_:key:)``, for the part that is read.
  package static func excerpt(
    _ value: RawSpan, key: MemoKey, byteCount: Int
  ) throws(FormatError) -> MemoExcerpt {
    var reader = ByteReader(value, structure: "memo record")
    let head = try reader.memoHead(key)
    let all = try reader.take(try reader.count(maximum: Limits.Value.maximumByteCount))
    // A character ends where the next one begins, which has up to four bytes for a scalar.
    let shown = all.extracting(first: min(byteCount, all.byteCount) + 4)
    let text = unsafe shown.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    let beginning = text.prefix(byteCount: byteCount)
    return MemoExcerpt(
      key: key, id: head.id, createdAt: head.createdAt, text: String(beginning),
      isComplete: shown.byteCount == all.byteCount && beginning.endIndex == text.endIndex)
  }
}

extension String {
  /// The characters that fit into a number of bytes.
  fileprivate func prefix(byteCount: Int) -> Substring {
    if utf8.count <= byteCount { return self[...] }
    var end = startIndex
    while end < endIndex {
      let next = index(after: end)
      guard utf8.distance(from: startIndex, to: next) <= byteCount else { break }
      end = next
    }
    return self[..<end]
  }
}
