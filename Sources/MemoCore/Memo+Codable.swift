// How memos, ids and times look to coders other than the store's own, as in JSON.

extension MemoID: Codable {
  private enum CodingKeys: String, CodingKey {
    case text
    case integer
    case bytes
    case uuid
  }

  /// Reads an id that ``encode(to:)`` wrote.
  ///
  /// - Parameter decoder: Where to read from.
  /// - Throws: `DecodingError` when there is no id, or one that is empty or too long.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let text = try container.decodeIfPresent(String.self, forKey: .text) {
      try self.init(text)
    } else if let number = try container.decodeIfPresent(Int64.self, forKey: .integer) {
      self.init(number)
    } else if let bytes = try container.decodeIfPresent([UInt8].self, forKey: .bytes) {
      try self.init(bytes: bytes)
    } else {
      let halves = try container.decode([UInt64].self, forKey: .uuid)
      guard halves.count == 2 else {
        throw DecodingError.dataCorruptedError(
          forKey: .uuid, in: container, debugDescription: "a UUID has two halves")
      }
      self.init(uuid: (high: halves[0], low: halves[1]))
    }
  }

  /// Writes the id under the name of its kind, so that the text "12" is not the number 12.
  ///
  /// - Parameter encoder: Where to write to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch storage {
    case .text(let text): try container.encode(text, forKey: .text)
    case .integer(let number): try container.encode(number, forKey: .integer)
    case .bytes(let bytes): try container.encode(bytes, forKey: .bytes)
    case .uuid(let high, let low): try container.encode([high, low], forKey: .uuid)
    }
  }
}

extension MemoTimestamp: Codable {
  /// Reads a timestamp from its ISO 8601 form.
  ///
  /// - Parameter decoder: Where to read from.
  /// - Throws: `DecodingError` when there is no text, ``MemoError/invalidTimestamp(reason:)`` when
  ///   it is no time.
  public init(from decoder: any Decoder) throws {
    try self.init(iso8601: try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the timestamp in its ISO 8601 form, which keeps the offset.
  ///
  /// - Parameter encoder: Where to write to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension Memo: Codable {
  private enum CodingKeys: String, CodingKey {
    case id
    case createdAt
    case changedAt
    case body
    case payload
  }

  /// Reads a memo that ``encode(to:)`` wrote.
  ///
  /// - Parameter decoder: Where to read from.
  /// - Throws: `DecodingError` when something is missing or is something else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(MemoID.self, forKey: .id),
      createdAt: try container.decode(MemoTimestamp.self, forKey: .createdAt),
      changedAt: try container.decodeIfPresent(MemoTimestamp.self, forKey: .changedAt),
      body: try container.decode(String.self, forKey: .body))
    payload = try container.decodeIfPresent([UInt8].self, forKey: .payload) ?? []
  }

  /// Writes every field of the memo.
  ///
  /// - Parameter encoder: Where to write to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(createdAt, forKey: .createdAt)
    try container.encodeIfPresent(changedAt, forKey: .changedAt)
    try container.encode(body, forKey: .body)
    if !payload.isEmpty { try container.encode(payload, forKey: .payload) }
  }
}
