/// A short text and the time it was written.
///
/// Two memos are equal when every field is; bodies and text ids are compared byte by byte, because
/// Swift's string comparison would call an edit from a composed to a decomposed accent no change.
public struct Memo: Sendable, Identifiable, Hashable {
  /// What names the memo; never changes.
  public let id: MemoID
  /// When the memo was written; its place in the history.
  public var createdAt: MemoTimestamp
  /// When the memo was last changed, `nil` when it never was or nobody knows.
  public var changedAt: MemoTimestamp?
  /// The text, any characters, kept byte for byte; may be empty.
  public var body: String
  /// The fields of an app's own type in their stored form, empty for a plain memo.
  ///
  /// Kept by everything that does not understand it.
  package var payload: [UInt8]

  /// Makes a memo; nothing is stored yet.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - createdAt: When it was written. Default: now.
  ///   - changedAt: When it was last changed. Default: never.
  ///   - body: The text. Together with the id it may take 64 MiB in a store.
  public init(
    id: MemoID, createdAt: MemoTimestamp = .now, changedAt: MemoTimestamp? = nil, body: String
  ) {
    self.init(id: id, createdAt: createdAt, changedAt: changedAt, body: body, payload: [])
  }

  /// Makes a memo with the fields of an app's type.
  package init(
    id: MemoID, createdAt: MemoTimestamp, changedAt: MemoTimestamp?, body: String, payload: [UInt8]
  ) {
    self.id = id
    self.createdAt = createdAt
    self.changedAt = changedAt
    self.body = body.contiguous
    self.payload = payload
  }

  /// Whether two memos are the same in every field.
  ///
  /// - Parameters:
  ///   - left: A memo.
  ///   - right: Another one.
  /// - Returns: Whether ids, times and the bytes of the bodies are equal.
  /// - Complexity: O(bytes of the body).
  public static func == (left: Memo, right: Memo) -> Bool {
    left.id == right.id && left.createdAt == right.createdAt && left.changedAt == right.changedAt
      && left.body.hasSameBytes(as: right.body) && left.payload == right.payload
  }

  /// Keeps the payload of an earlier version of the memo, when the memo comes without one.
  mutating func inheritPayload(of earlier: Memo) {
    if payload.isEmpty { payload = earlier.payload }
  }

  /// Feeds every field to a hasher.
  ///
  /// - Parameter hasher: The hasher of a set or dictionary.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(createdAt)
    hasher.combine(changedAt)
    body.hashBytes(into: &hasher)
    hasher.combine(payload)
  }
}
