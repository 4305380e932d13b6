public import MemoCore

/// A type of an app whose values are memos.
///
/// A struct with an id, a time and a text, and whatever else the app needs in any `Codable` form:
///
/// ```swift
/// struct Note: MemoEntity {
///   var id = UUID()
///   var createdAt = MemoTimestamp.now
///   var text: String
///   var tags: [String] = []
///
///   static let schema = MemoSchema<Note>(defaults: Note(text: ""))
/// }
/// ```
///
/// The store keeps id, time and text where every tool finds them, and the rest behind them by the
/// names of the coding keys. Names are therefore part of what is stored: to give a property another
/// one, let ``MemoSchema`` rename the field or give the coding key the old name. Fields that the
/// type does not have, because a newer version of the app wrote them, survive every update.
public protocol MemoEntity: Sendable, Identifiable, Hashable, Codable where ID: MemoIdentifier {
  /// When the memo was written; its place in the history.
  ///
  /// Changing it moves the memo.
  var createdAt: MemoTimestamp { get }

  /// What people read and search.
  var text: String { get }

  /// How stored memos of older versions of the type are read.
  ///
  /// Should be a `static let`: it is asked for at every opening. Default: version 1, without
  /// defaults.
  static var schema: MemoSchema<Self> { get }
}

extension MemoEntity {
  /// Version 1, without defaults.
  public static var schema: MemoSchema<Self> { MemoSchema() }
}

/// The ready-made memo is stored as it is, without a coder.
extension Memo: MemoEntity {
  /// The body.
  public var text: String { body }

  /// No fields beside those that every memo has.
  public static var schema: MemoSchema<Memo> {
    MemoSchema(plain: PlainForm(entities: { $0 }, memo: { $0 }))
  }
}
