internal import KVEngine
internal import MemoCore

/// Makes entities of memos and memos of entities: the border between an app's type and the store.
struct EntityCoder<Entity: Sendable>: Sendable {
  /// Fields with the names of their numbers.
  typealias NamedFields = (record: PayloadRecord, names: MemoNames)

  let schema: MemoSchema<Entity>
  /// What missing fields are taken from.
  private let defaults: Result<(value: PayloadValue, scope: DecodingScope), MemoError>?
}

extension EntityCoder where Entity: MemoEntity {
  init(_ schema: MemoSchema<Entity>) {
    self.schema = schema
    defaults = schema.defaults.map { defaults in
      Self.fields(of: defaults).map {
        (.record($0.record), DecodingScope(names: $0.names, memo: nil))
      }
    }
  }

  /// The fields of an entity, with names of their own.
  static func fields(of entity: Entity) -> Result<NamedFields, MemoError> {
    Result { () throws(MemoError) in
      var names = MemoNames()
      return (try encode(entity, &names), names)
    }
  }

  // MARK: - Reading

  /// The entity that a memo stands for.
  func entity(of memo: Memo, _ names: inout NameSource) throws(MemoError) -> Entity {
    if let plain = schema.plain, let entity = plain.entities([memo]).first { return entity }
    return try decode(memo, try fields(of: memo, &names), tracing: false).entity
  }

  /// The fields of a memo, upgraded to the current version, and the names that they use.
  private func fields(
    of memo: Memo, _ names: inout NameSource
  ) throws(MemoError) -> NamedFields {
    let payload: MemoPayload
    var fields: NamedFields
    if memo.payload.isEmpty {
      (payload, fields) = (MemoPayload(schemaVersion: 0, record: .envelope), (.envelope, .envelope))
    } else {
      do throws(FormatError) {
        payload = try MemoPayload(encoded: memo.payload.rawBytes)
      } catch {
        throw .damagedRecord(Corruption(error, fileName: "memo space"))
      }
      fields = (payload.record, try names.names(upTo: payload.record.highestNumber))
    }
    let version = Int(clamping: payload.schemaVersion)
    if version > schema.version { throw .newerSchema(found: version, known: schema.version) }
    if version < schema.version, let upgrade = schema.upgrade {
      var upgraded = MemoFields(fields.record, fields.names, of: memo)
      upgrade(&upgraded, version)
      guard !upgraded.isOverfull else { throw .unreadable(memo.id, reason: MemoNames.refusal) }
      fields = (upgraded.record, upgraded.table)
    }
    return fields
  }

  private func decode(
    _ memo: Memo, _ fields: NamedFields, tracing: Bool
  ) throws(MemoError) -> (entity: Entity, trace: FieldTrace?) {
    let defaults = try defaults?.get()
    let decoder = PayloadDecoder(
      .record(fields.record),
      DecodingScope(names: fields.names, memo: memo, defaults: defaults?.scope), step: nil,
      fallback: defaults?.value, trace: tracing ? FieldTrace(fields.record) : nil)
    let entity: Entity
    do {
      entity = try Entity(from: decoder)
    } catch {
      throw .unreadable(memo.id, reason: Self.reason(for: error, fields.names))
    }
    guard try entity.id.memoID == memo.id else {
      throw .unreadable(memo.id, reason: "its fields hold another id")
    }
    return (entity, decoder.trace)
  }

  // MARK: - Writing

  /// The memo that stands for an entity, in place of a stored one if there is one.
  ///
  /// - Parameters:
  ///   - entity: What is to be stored.
  ///   - stored: The memo with its id; fields of it that the type does not know are kept.
  ///   - names: The names of the store; new ones are added.
  /// - Returns: The memo; `stored` when nothing about it changes.
  /// - Throws: ``MemoError/unencodable(reason:)``, and what reading `stored` throws.
  func memo(
    for entity: Entity, over stored: Memo?, _ names: inout NameSource
  ) throws(MemoError) -> Memo {
    if let plain = schema.plain {
      var memo = plain.memo(entity)
      if let stored, memo.payload.isEmpty { memo.payload = stored.payload }
      return memo
    }
    var memo = Memo(id: try entity.id.memoID, createdAt: entity.createdAt, body: entity.text)
    var table: MemoNames
    var kept: (record: PayloadRecord, trace: FieldTrace)?
    // Fields of a plain memo say what the envelope says: nothing to keep.
    if let stored, !stored.payload.isEmpty {
      let fields = try fields(of: stored, &names)
      table = fields.names
      if let trace = try decode(stored, fields, tracing: true).trace {
        kept = (fields.record, trace)
      }
    } else {
      table = try names.names()
    }
    var record = try Self.encode(entity, &table)
    if let stored, let kept {
      record = kept.trace.keepUnknown(of: kept.record, in: record) { $0.resolved(in: stored) }
    }
    let version = UInt64(schema.version)
    table.schemaVersion = max(table.schemaVersion, version)
    names.add(table)
    memo.payload =
      MemoPayload(schemaVersion: version, record: record.referring(to: memo)).encoded
    guard let stored else { return memo }
    memo.changedAt = stored.changedAt
    if memo != stored { memo.changedAt = .now }
    return memo
  }
}

extension EntityCoder where Entity: Encodable {
  /// The fields of a value; names that are new are added.
  static func encode(
    _ entity: Entity, _ names: inout MemoNames
  ) throws(MemoError) -> PayloadRecord {
    let scope = EncodingScope(names: names)
    do {
      let encoder = PayloadEncoder(scope)
      try entity.encode(to: encoder)
      guard case .record(let record) = try encoder.finished() else {
        throw encoder.error("it has no fields")
      }
      names = scope.names
      return record
    } catch {
      throw .unencodable(reason: reason(for: error, scope.names))
    }
  }
}

extension EntityCoder {
  // MARK: - Errors

  /// What went wrong, with names of fields and nothing of what is in them.
  static func reason(for error: any Error, _ names: MemoNames) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      // A key that is not there is one of the type's, not one that was found.
      "\(field(context.codingPath, names, missing: key)) is missing"
    case DecodingError.valueNotFound(_, let context):
      "\(field(context.codingPath, names)) has no value"
    case DecodingError.typeMismatch(_, let context):
      "\(field(context.codingPath, names)) is of another kind"
    case DecodingError.dataCorrupted(let context):
      "\(field(context.codingPath, names)) has a value that the app does not know"
    case EncodingError.invalidValue(_, let context):
      field(context.codingPath, names) + ": "
        + ((context.underlyingError as? PayloadEncoder.Refusal)?.reason ?? "its type refuses it")
    default: "the app's type refuses it"
    }
  }

  /// A coding path; keys that are no names of fields are data, and are not shown.
  private static func field(
    _ path: [any CodingKey], _ names: MemoNames, missing: (any CodingKey)? = nil
  ) -> String {
    var parts = path.prefix(8).map { key in
      key.intValue.map { "\($0)" }
        ?? (names.number(of: key.stringValue) == nil ? "?" : key.stringValue)
    }
    if let missing { parts.append(missing.stringValue) }
    return parts.isEmpty ? "the memo" : "field " + parts.joined(separator: ".")
  }
}

extension PayloadRecord {
  /// What a memo without a payload has: "id", "createdAt" and "text".
  fileprivate static let envelope = PayloadRecord([
    Field(number: 0, value: .reference(.id)), Field(number: 1, value: .reference(.createdAt)),
    Field(number: 2, value: .reference(.text)),
  ])
}

extension MemoNames {
  /// The names of those.
  fileprivate static let envelope: MemoNames = {
    var names = MemoNames()
    for name in ["id", "createdAt", "text"] { _ = names.number(adding: name) }
    return names
  }()
}
