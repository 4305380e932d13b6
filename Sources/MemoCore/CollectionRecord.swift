package import KVEngine

// FORMAT.md section 10.8: values of collections, each under the name of its collection and its id.
// The name has its length in front, so that no name is the beginning of another.

/// Keys and values of the space of collections.
package enum CollectionRecord {
  /// The version of a value's record; later ones are refused.
  package static let version: UInt64 = 0
  /// The most bytes that the name of a collection may have.
  package static let maximumNameByteCount = 255

  /// What the keys of a collection begin with.
  ///
  /// - Throws: ``MemoError/unencodable(reason:)`` for a name that no collection can have.
  package static func prefix(of name: String) throws(MemoError) -> [UInt8] {
    guard let byteCount = UInt8(exactly: name.utf8.count), byteCount > 0 else {
      throw .unencodable(reason: "the name of its collection is empty or has more than 255 bytes")
    }
    return [byteCount] + name.utf8
  }

  /// The key of a value.
  ///
  /// - Throws: ``MemoError/unencodable(reason:)`` for a name that no collection can have,
  ///   ``MemoError/invalidID(reason:)`` for an id that is too long beside it.
  package static func key(of id: MemoID, in name: String) throws(MemoError) -> [UInt8] {
    var key = try prefix(of: name)
    id.appendEncoded(to: &key)
    guard key.count <= Limits.Key.maximumByteCount else {
      throw .invalidID(reason: "is too long for the collection")
    }
    return key
  }

  /// The id of a value.
  package static func id(ofKey key: RawSpan) throws(FormatError) -> MemoID {
    var reader = ByteReader(key, structure: "collection key")
    let byteCount = Int(try reader.u8())
    let bytes = try reader.take(byteCount)
    let name = unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard name?.isEmpty == false else {
      throw reader.failure("the name of the collection is empty or not UTF-8")
    }
    return try MemoID(encoded: try reader.take(reader.remaining))
  }

  /// The stored form of a value.
  package static func encode(_ payload: MemoPayload) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: version)
    return bytes + payload.encoded
  }

  /// Reads a value from its stored form.
  ///
  /// - Throws: `FormatError` when the bytes are not exactly one, or one of a later version.
  package static func decode(_ value: RawSpan) throws(FormatError) -> MemoPayload {
    var reader = ByteReader(value, structure: "collection value")
    let found = try reader.varint()
    guard found == version else {
      throw reader.failure("has version \(found); a newer program can read it")
    }
    return try MemoPayload(encoded: try reader.take(reader.remaining))
  }
}
