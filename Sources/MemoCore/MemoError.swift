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
  /// There is a memo with the id already; nothing was written.
  case duplicateID
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
    case .duplicateID: "there is a memo with this id already"
    case .database(let error): "\(error)"
    case .damagedRecord(let corruption): "a memo is damaged: \(corruption)"
    }
  }
}
