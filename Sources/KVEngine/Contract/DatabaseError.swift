/// Everything that a database call can throw.
///
/// An absent key is no error. Text of stored values appears in no case.
@nonexhaustive
public enum DatabaseError: Error, Sendable, Equatable {
  /// The batch is certainly not in the store, which stays usable.
  case notWritten(IOFailure)
  /// The batch may or may not be found after the next open; this handle takes no more writes.
  case outcomeUnknown(IOFailure)
  /// The batch is certainly not in the store because the volume, a quota or a file-size limit is
  /// exhausted. The store stays usable; writing again later may succeed.
  case diskFull(IOFailure)
  /// The folder or its volume cannot be written; nothing was changed.
  case readOnlyLocation(IOFailure)
  /// Another process writes to this store, or this process has a second writable handle open.
  case alreadyOpen
  /// The handle was opened by the parent of this process.
  case usedAfterFork
  /// The store is suspended.
  case suspended
  /// The file has a format version that this library does not know. Nothing was changed.
  case unsupportedFormat(fileName: String, found: UInt16, known: UInt16)
  /// Stored bytes do not verify. Nothing was changed.
  case damaged(Corruption)
  /// The files exist but cannot be read at the moment, for example on a locked device.
  case notAvailableYet(IOFailure)
  /// The store changed under a reader at every attempt.
  case busy
  /// An argument is larger than the store can hold. Nothing was changed.
  case limitExceeded(what: String, maximum: Int)
  /// The task or operation was cancelled.
  case cancelled
  /// The handle was closed.
  case closed
  /// An earlier write of this handle failed for good; open the store again to write.
  case failed
  /// There is no store at the path.
  case notFound(fileName: String)
  /// An argument makes no sense; the text says which and why.
  case invalidArgument(String)
  /// A precondition of the batch did not hold; nothing was changed. The index counts the batch's
  /// preconditions from 0.
  case preconditionFailed(index: Int)
  /// A call of the operating system failed; nothing was changed.
  case io(IOFailure)
}

extension DatabaseError: CustomStringConvertible {
  /// One line: what happened, where, and what the caller can do.
  public var description: String {
    switch self {
    case .notWritten(let failure): "nothing was written: \(failure)"
    case .outcomeUnknown(let failure):
      "it is unknown whether the write is stored: \(failure); open the store again to find out"
    case .diskFull(let failure): "nothing was written, the disk is full: \(failure)"
    case .readOnlyLocation(let failure): "the store cannot be written here: \(failure)"
    case .alreadyOpen: "the store is open for writing elsewhere; only one writer at a time"
    case .usedAfterFork: "the store was opened before a fork; open it again in this process"
    case .suspended: "the store is suspended; resume it first"
    case .unsupportedFormat(let name, let found, let known):
      "\(name) has format version \(found), this program knows \(known); use a newer program"
    case .damaged(let corruption): "the store is damaged: \(corruption)"
    case .notAvailableYet(let failure): "the store cannot be read at the moment: \(failure)"
    case .busy: "the store changed while it was read, at every attempt; try again"
    case .limitExceeded(let what, let maximum): "\(what) is too large; the maximum is \(maximum)"
    case .cancelled: "the operation was cancelled"
    case .closed: "the store is closed"
    case .failed: "an earlier write failed for good; open the store again to write"
    case .notFound(let name): "there is no store at \(name)"
    case .invalidArgument(let text): text
    case .preconditionFailed(let index): "precondition \(index) of the batch does not hold"
    case .io(let failure): "\(failure)"
    }
  }
}
