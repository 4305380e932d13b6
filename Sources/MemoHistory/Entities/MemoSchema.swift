internal import MemoCore

/// How the stored memos of a type are read when the type has changed since.
///
/// An added property needs an entry in `defaults`, anything else a new version and an `upgrade`:
///
/// ```swift
/// static let schema = MemoSchema<Note>(version: 2, defaults: Note(text: "")) { fields, version in
///   if version < 2 { fields.rename("body", to: "text") }
/// }
/// ```
///
/// Memos are upgraded when they are read, one by one, and stored in the new form when they are next
/// written; opening a store costs the same after any number of versions.
public struct MemoSchema<Entity: Sendable>: Sendable {
  /// Changes the fields of a memo that an older version wrote, as the version given has left them;
  /// 0 is a memo without fields of a type, as imported ones are.
  public typealias Upgrade = @Sendable (_ fields: inout MemoFields, _ version: Int) -> Void

  /// The version by which memos are written, from 1 on.
  public let version: Int
  let defaults: Entity?
  let indexes: [MemoIndex<Entity>]
  let upgrade: Upgrade?
  /// How entities are stored that need no coder.
  let plain: PlainForm<Entity>?

  /// Describes the current version of a type.
  ///
  /// - Parameters:
  ///   - version: 1 or more; to be raised when `upgrade` learns something new, when the keys of an
  ///     index change, and when older versions of the app must no longer open the store. Less is
  ///     taken as 1.
  ///   - defaults: A value that lends its fields, also those of structs inside it, to stored memos
  ///     that do not have them: the decoding that Swift writes for a struct ignores the defaults of
  ///     its properties. Its id, time and text are not used.
  ///   - indexes: By what memos are found beside id and time; no two with the same name.
  ///   - upgrade: Called for memos of older versions, with their fields and that version, on any
  ///     thread.
  public init(
    version: Int = 1, defaults: Entity? = nil, indexes: [MemoIndex<Entity>] = [],
    upgrade: Upgrade? = nil
  ) {
    self.version = max(version, 1)
    self.defaults = defaults
    self.indexes = indexes
    self.upgrade = upgrade
    plain = nil
  }

  init(plain: PlainForm<Entity>) {
    version = 1
    defaults = nil
    indexes = []
    upgrade = nil
    self.plain = plain
  }
}

extension MemoSchema where Entity: MemoEntity {
  /// The stored fields of the type with their kinds, as `defaults` has them; none without it.
  ///
  /// For a test that fails when a property gets another name or type by accident.
  public var fields: [MemoSchemaField] {
    guard let defaults, case .success(let (record, names)) = EntityCoder.fields(of: defaults) else {
      return []
    }
    return record.fields.map {
      MemoSchemaField(name: names[$0.number] ?? "", kind: MemoFieldKind($0.value))
    }
  }
}

/// The name and kind of a stored field.
public struct MemoSchemaField: Sendable, Hashable {
  /// The coding key.
  public let name: String
  /// What is stored under it.
  public let kind: MemoFieldKind

  /// Describes a field, to compare it with one of a schema.
  ///
  /// - Parameters:
  ///   - name: The coding key.
  ///   - kind: What is stored under it.
  public init(name: String, kind: MemoFieldKind) {
    self.name = name
    self.kind = kind
  }
}

/// What a stored field holds, whatever type the app gave it.
public enum MemoFieldKind: Sendable, Hashable {
  /// Nothing: an optional that is `nil`.
  case null
  /// True or false.
  case bool
  /// An integer of any width.
  case integer
  /// A floating-point number of either width.
  case double
  /// A text, or what is coded as one.
  case text
  /// Bytes.
  case bytes
  /// An array, a set, or a dictionary whose keys are neither texts nor numbers.
  case list
  /// A struct, or an enum with values.
  case record
  /// A dictionary.
  case map
  /// A UUID.
  case uuid
  /// A ``MemoTimestamp``.
  case timestamp

  init(_ value: PayloadValue) {
    self =
      switch value {
      case .null: .null
      case .bool: .bool
      case .unsigned, .negative: .integer
      case .float, .double: .double
      case .text, .reference(.text), .reference(.id): .text
      case .bytes: .bytes
      case .list: .list
      case .record: .record
      case .map: .map
      case .uuid: .uuid
      case .timestamp, .reference(.createdAt): .timestamp
      }
  }
}

/// How entities are stored that are memos themselves.
struct PlainForm<Entity>: Sendable {
  let entities: @Sendable ([Memo]) -> [Entity]
  let memo: @Sendable (Entity) -> Memo
}
