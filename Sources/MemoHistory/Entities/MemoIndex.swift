internal import MemoCore

/// A way to find the memos of an app by a key, or in the order of one.
///
/// Declared once, beside the type, and handed to its ``MemoSchema``:
///
/// ```swift
/// static let byNumber = MemoIndex<Note>.unique("number") { [.integer($0.number)] }
/// static let byDueDate = MemoIndex<Note>.ordered("due") { note in
///   note.due.map { [.timestamp($0), .integer(note.priority)] }
/// }
/// static let schema = MemoSchema<Note>(indexes: [byNumber, byDueDate])
/// ```
///
/// A key has one to four values. A memo for which the closure returns nothing, or no value, is not
/// in the index, and any number of memos may be left out like that.
///
/// The store keeps an index under its name, in step with memos in the same commit. The closure must
/// give the same key for the same memo each time: when it is changed, give the index another name
/// or raise the version of the schema, and it is built anew.
public struct MemoIndex<Entity: Sendable>: Sendable {
  /// The key of a memo in the index, `nil` or empty for none; called on any thread.
  public typealias Key = @Sendable (Entity) -> [MemoIndexValue]?

  let declaration: MemoIndexDeclaration
  let key: Key

  /// What the store knows the index by.
  public var name: String { declaration.name }

  /// Declares an index in which no two memos have the same key.
  ///
  /// - Parameters:
  ///   - name: At most 1,024 bytes of UTF-8; of two indexes with one name the first counts.
  ///   - key: The key of a memo.
  /// - Returns: What a ``MemoSchema`` takes, and look-ups.
  public static func unique(_ name: String, key: @escaping Key) -> MemoIndex {
    MemoIndex(declaration: MemoIndexDeclaration(name: name, isUnique: true), key: key)
  }

  /// Declares an index in which memos are in the order of their keys; of one key, the newest first.
  ///
  /// - Parameters:
  ///   - name: At most 1,024 bytes of UTF-8; of two indexes with one name the first counts.
  ///   - key: The key of a memo.
  /// - Returns: What a ``MemoSchema`` takes, and reads.
  public static func ordered(_ name: String, key: @escaping Key) -> MemoIndex {
    MemoIndex(declaration: MemoIndexDeclaration(name: name, isUnique: false), key: key)
  }
}

/// The indexes of a type, for the store.
struct EntityIndexer<Entity: MemoEntity>: MemoIndexer {
  private let coder: EntityCoder<Entity>
  private let indexes: [MemoIndex<Entity>]
  let declarations: [MemoIndexDeclaration]

  /// Makes the indexer of a type; `nil` for one without indexes.
  init?(_ coder: EntityCoder<Entity>) {
    var indexes: [MemoIndex<Entity>] = []
    for index in coder.schema.indexes
    where !indexes.contains(where: { $0.declaration.hasName(of: index.declaration) }) {
      indexes.append(index)
    }
    if indexes.isEmpty { return nil }
    self.coder = coder
    self.indexes = indexes
    declarations = indexes.map(\.declaration)
  }

  var schemaVersion: UInt64 { UInt64(coder.schema.version) }

  func keys(
    of memo: Memo, _ names: inout NameSource
  ) throws(MemoError) -> [[MemoIndexValue]]? {
    let entity: Entity
    do {
      entity = try coder.entity(of: memo, &names)
    } catch .database(let error) {
      throw .database(error)
    } catch {
      return nil
    }
    return indexes.map { $0.key(entity) ?? [] }
  }
}
