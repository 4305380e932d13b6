public import KVEngine

/// Everything that a call of the memo layers can throw.
///
/// Text of memos appears in no case and in no description.
@nonexhaustive
public enum MemoError: Error, Sendable, Equatable {
  /// The id cannot be stored. The reason reads on after "the id", for example "is empty".
  case invalidID(reason: String)
  /// The text is no point in time. The reason reads on after "the time", for example "has no zone".
  case invalidTimestamp(reason: String)
  /// The search is larger than searches may be. The reason reads on after "the search", for example
  /// "has more than 32 parts".
  case invalidSearch(reason: String)
  /// There is a memo with the id already; nothing was written.
  case duplicateID
  /// Another memo, the one with this id, has the same key in a unique index; nothing was written.
  case duplicateKey(index: String, id: MemoID)
  /// The index cannot be asked yet: it is being built, as after an update of the app that brought
  /// it, or nobody has declared it.
  case indexNotReady(index: String)
  /// There is no memo with the id; nothing was written.
  case missingID
  /// A change gave a memo another id; nothing was written.
  case changedID
  /// The memo cannot be stored as it is; nothing was written. The reason reads on after "the memo
  /// cannot be stored:".
  case unencodable(reason: String)
  /// The stored memo, or value of a collection, with this id does not fit the app's type, for
  /// example because it holds a case that the app does not know. The others are not affected. The
  /// reason reads on after "a memo cannot be read:", with names of fields and nothing of what is in
  /// them.
  case unreadable(MemoID, reason: String)
  /// A store or a memo was written by a newer schema of the app than the one that reads it.
  case newerSchema(found: Int, known: Int)
  /// The deletion can no longer be undone: its time is over, or it was undone already.
  case deletionExpired
  /// The task that waited for a read or an import was cancelled before that had ended.
  case cancelled
  /// The engine below could not do its work.
  case database(DatabaseError)
  /// A stored memo cannot be decoded. The other memos are not affected.
  case damagedRecord(Corruption)
}

extension MemoError: CustomStringConvertible {
  /// One line: what happened, and where.
  public var description: String {
    switch self {
    case .invalidID(let reason): "the id \(reason)"
    case .invalidTimestamp(let reason): "the time \(reason)"
    case .invalidSearch(let reason): "the search \(reason)"
    case .duplicateID: "there is a memo with this id already"
    case .duplicateKey(let index, _): "another memo has this key in the index \(index)"
    case .indexNotReady(let index): "the index \(index) is not ready"
    case .missingID: "there is no memo with this id"
    case .changedID: "a change must not give a memo another id"
    case .unencodable(let reason): "the memo cannot be stored: \(reason)"
    case .unreadable(_, let reason): "a memo cannot be read: \(reason)"
    case .newerSchema(let found, let known):
      "was written by schema \(found) of the app, which is newer than schema \(known)"
    case .deletionExpired: "the deletion can no longer be undone"
    case .cancelled: "the call was cancelled"
    case .database(let error): "\(error)"
    case .damagedRecord(let corruption): "a memo is damaged: \(corruption)"
    }
  }
}
