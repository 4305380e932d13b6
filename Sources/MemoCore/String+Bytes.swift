// Swift's `==` on strings calls canonically equivalent texts equal ("cafe" with one accent scalar
// or two). For memos that would be a lost edit or a merged id, so texts are compared by their
// UTF-8.

internal import KVEngine

extension String {
  /// Whether both strings have the same UTF-8 bytes.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let isSame = unsafe utf8.withContiguousStorageIfAvailable { left in
      unsafe other.utf8.withContiguousStorageIfAvailable { right in
        unsafe compareBytes(
          RawSpan(_unsafeBytes: UnsafeRawBufferPointer(left)),
          RawSpan(_unsafeBytes: UnsafeRawBufferPointer(right))) == 0
      }
    }
    // Only strings of another runtime have no contiguous bytes.
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Feeds the UTF-8 bytes and an end mark to a hasher.
  func hashBytes(into hasher: inout Hasher) {
    let text = contiguous
    unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
    hasher.combine(0xFF as UInt8)
  }

  /// The same text with its UTF-8 in one piece, so that later reads of the bytes are direct.
  var contiguous: String {
    var copy = self
    copy.makeContiguousUTF8()
    return copy
  }
}
