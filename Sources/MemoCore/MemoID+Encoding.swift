package import KVEngine

// FORMAT.md section 10.3: one kind byte, then the content: UTF-8 of a text, a number as 8 bytes
// little-endian, bytes as they are, a UUID as its 16 bytes in the usual order.

extension MemoID {
  /// The kinds of ids in stored records.
  ///
  /// Never renumber (FORMAT.md 13).
  package enum Kind: UInt8, CaseIterable, Sendable {
    case text = 1
    case integer = 2
    case bytes = 3
    case uuid = 4
  }

  /// What kind of value the id is.
  package var kind: Kind {
    switch storage {
    case .text: .text
    case .integer: .integer
    case .bytes: .bytes
    case .uuid: .uuid
    }
  }

  /// The id in its stored form.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encodedByteCount)
    appendEncoded(to: &bytes)
    return bytes
  }

  /// Bytes of the stored form.
  package var encodedByteCount: Int {
    switch storage {
    case .text(let text): 1 + text.utf8.count
    case .integer: 1 + 8
    case .bytes(let bytes): 1 + bytes.count
    case .uuid: 1 + 16
    }
  }

  /// Appends the stored form.
  package func appendEncoded(to bytes: inout [UInt8]) {
    bytes.append(kind.rawValue)
    switch storage {
    case .text(let text): bytes.append(contentsOf: text.utf8)
    case .integer(let number): bytes.append(u64: UInt64(bitPattern: number))
    case .bytes(let content): bytes.append(contentsOf: content)
    case .uuid(let high, let low):
      bytes.append(bigEndian: high)
      bytes.append(bigEndian: low)
    }
  }

  /// The hash under which the id space and its filters know the id.
  ///
  /// Part of the format: XXH64 of ``encoded``.
  package var hash64: UInt64 {
    XXH64.hash(encoded.rawBytes)
  }

  /// Reads an id from its stored form; accepts exactly what ``encoded`` makes.
  package init(encoded: RawSpan) throws(FormatError) {
    var reader = ByteReader(encoded, structure: "memo id")
    let code = try reader.u8()
    guard let kind = Kind(rawValue: code) else {
      throw FormatError("memo id", at: 0, "unknown kind \(code)")
    }
    let count = reader.remaining
    guard count > 0, count <= Self.maximumByteCount else {
      throw reader.failure("has \(count) bytes")
    }
    switch kind {
    case .text:
      let content = try reader.take(count)
      let text = unsafe content.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
      guard let text else { throw FormatError("memo id", at: 1, "text is not UTF-8") }
      storage = .text(text)
    case .bytes:
      storage = .bytes(try reader.takeArray(count))
    case .integer:
      storage = .integer(Int64(bitPattern: try reader.u64()))
    case .uuid:
      let high = try reader.u64().byteSwapped
      storage = .uuid(high: high, low: try reader.u64().byteSwapped)
    }
    guard reader.isAtEnd else { throw reader.failure("bytes follow the id") }
  }
}
