internal import KVEngine
internal import MemoCore

/// The beginning of a memo, for a list that shows no more than that.
public struct MemoPreview<ID: MemoIdentifier>: Sendable, Hashable, Identifiable {
  /// What names the memo.
  public let id: ID
  /// When the memo was written.
  public let createdAt: MemoTimestamp
  /// The text, or the beginning of it.
  public let text: String
  /// Whether that is all of the text.
  public let isComplete: Bool
  /// The place behind the memo, where the next previews begin.
  public let position: PagePosition
}

extension MemoStore where Entity: MemoEntity {
  /// The beginnings of the newest memos, or of those behind a place, newest first.
  ///
  /// Reads the text of each memo as far as it is wanted, and nothing of its other fields: an
  /// upgrade of the schema has no effect, and a memo whose fields do not fit the app's type is
  /// there like any other.
  ///
  /// - Parameters:
  ///   - count: At most this many.
  ///   - byteCount: The most bytes of UTF-8 that a text has; it ends between two characters, so one
  ///     that begins with a larger character is empty.
  ///   - position: ``MemoPreview/position`` of the last one before, or where a page ended; `nil`
  ///     begins with the newest memo.
  /// - Returns: The beginnings; fewer than `count` when there are no more.
  /// - Throws: ``MemoError/database(_:)`` or ``MemoError/damagedRecord(_:)`` if stored bytes do not
  ///   verify or cannot be read, ``MemoError/unreadable(_:reason:)`` for an id that is none of the
  ///   app's.
  /// - Complexity: O(`count`), independent of the number of memos.
  public func previews(
    _ count: Int, byteCount: Int, after position: PagePosition? = nil
  ) throws(MemoError) -> [MemoPreview<Entity.ID>] {
    let excerpts = try timeline.excerpts(
      count, byteCount: max(byteCount, 0), after: position?.key)
    var previews: [MemoPreview<Entity.ID>] = []
    previews.reserveCapacity(excerpts.count)
    for excerpt in excerpts {
      guard let id = Entity.ID(memoID: excerpt.id) else {
        throw .unreadable(excerpt.id, reason: "its id is none of the app's")
      }
      previews.append(
        MemoPreview(
          id: id, createdAt: excerpt.createdAt, text: excerpt.text,
          isComplete: excerpt.isComplete, position: PagePosition(excerpt.key)))
    }
    return previews
  }

  /// One stored field of a memo, without making a value of the app's type.
  ///
  /// It is what is stored: upgrades and defaults of the schema have no effect. A memo that has no
  /// fields of a type, as imported ones have none, has "id", "createdAt" and "text".
  ///
  /// - Parameters:
  ///   - name: The coding key of a property.
  ///   - id: What names the memo.
  /// - Returns: What is stored; `nil` if there is no memo with the id, or no such field in it.
  /// - Throws: ``MemoError/database(_:)`` or ``MemoError/damagedRecord(_:)`` if stored bytes do not
  ///   verify or cannot be read, ``MemoError/invalidID(reason:)`` for an id that no memo can have.
  /// - Complexity: O(log *n* + bytes of the memo).
  public func field(
    _ name: String, of id: Entity.ID
  ) throws(MemoError) -> MemoFieldValue? {
    let timeline = try timeline
    guard let memo = try timeline.memo(for: try id.memoID) else { return nil }
    if memo.payload.isEmpty {
      let reference: PayloadValue.Reference
      switch name {
      case "id": reference = .id
      case "createdAt": reference = .createdAt
      case "text": reference = .text
      default: return nil
      }
      return MemoFieldValue(PayloadValue.reference(reference).resolved(in: memo), MemoNames())
    }
    // One that is not known may be another process's.
    var names = try timeline.names()
    if names.number(of: name) == nil { names = try timeline.reloadedNames() }
    guard let number = names.number(of: name) else { return nil }
    let value: PayloadValue?
    do {
      value = try MemoPayload.value(of: number, in: memo.payload.rawBytes)
    } catch {
      throw .damagedRecord(Corruption(error, fileName: "memo space"))
    }
    guard let value else { return nil }
    var source = NameSource(timeline)
    let table = try source.names(upTo: value.highestNumber)
    return MemoFieldValue(value.resolved(in: memo), table)
  }
}
