public import KVEngine
internal import MemoCore

/// How the memos of an app are open: what one banner on the screen has to say.
@nonexhaustive
public enum MemoStoreCondition: Sendable, Equatable {
  /// With everything that was stored.
  case open
  /// At an earlier state than the newest one, which is damaged or not complete, as in a backup that
  /// was made while memos were written. The report says what is missing.
  case openEarlierState(EarlierState)
  /// Everything can be read; the last write failed because nothing can be written where the store
  /// is.
  case readOnly(IOFailure)
  /// Everything can be read; the last write failed because the disk is full. Deleting and purging
  /// may still be possible.
  case full(IOFailure)
  /// Not at all: the device is locked and has not been unlocked since its start. See
  /// ``MemoStore/resume()``.
  case notAvailableYet(IOFailure)
  /// Everything can be read; an earlier write failed so that this process cannot write any more. It
  /// can after closing all references and opening the store again.
  case failed
}

extension MemoStore {
  /// How the store is open.
  ///
  /// The next write that succeeds ends what a failed one has begun. With an earlier state, writing
  /// goes on from that state, and what it does not hold is kept in a folder `set-aside-` inside the
  /// store.
  ///
  /// - Complexity: O(1).
  public var condition: MemoStoreCondition {
    do throws(MemoError) {
      let timeline = try timeline
      switch timeline.lastFailure {
      case .readOnlyLocation(let failure): return .readOnly(failure)
      case .diskFull(let failure): return .full(failure)
      case .failed, .outcomeUnknown: return .failed
      default: return timeline.earlierState.map { .openEarlierState($0) } ?? .open
      }
    } catch .database(.notAvailableYet(let failure)) {
      return .notAvailableYet(failure)
    } catch {
      return .failed
    }
  }
}
