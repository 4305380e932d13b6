import Dispatch
import KVEngine
import MemoCore
import MemoHistory

/// A screen that keeps what it was shown.
@MainActor
final class HistoryScreen<Entity: MemoEntity> {
  private(set) var snapshots: [HistorySnapshot<Entity>] = []

  func show(_ snapshot: HistorySnapshot<Entity>) { snapshots.append(snapshot) }
}

/// Where a thread has to wait until a test lets it go on.
final class Gate: Sendable {
  private let arrived = DispatchSemaphore(value: 0)
  private let isOpen = DispatchSemaphore(value: 0)
  private let isGuarded = SharedLock(false)

  /// Makes the next one who passes wait.
  func close() { isGuarded.withLock { $0 = true } }

  func open() { isOpen.signal() }

  /// Goes through; waits when the gate is closed, and leaves it open.
  func pass() {
    let mustWait = isGuarded.withLock { isGuarded in
      defer { isGuarded = false }
      return isGuarded
    }
    guard mustWait else { return }
    arrived.signal()
    isOpen.wait()
  }

  /// Waits until somebody stands before the gate.
  func arrival() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [arrived] in
        arrived.wait()
        continuation.resume()
      }
    }
  }
}

/// Where code ran.
final class Places: Sendable {
  private static let key = DispatchSpecificKey<Bool>()
  private let found = SharedLock((main: 0, task: 0, elsewhere: 0))

  init() { DispatchQueue.main.setSpecific(key: Self.key, value: true) }

  /// Notes whether the caller is on the main queue, in a task, or on a thread of neither.
  func note() {
    let isMain = DispatchQueue.getSpecific(key: Self.key) != nil
    let isTask = withUnsafeCurrentTask { $0 != nil }
    found.withLock { found in
      if isMain {
        found.main += 1
      } else if isTask {
        found.task += 1
      } else {
        found.elsewhere += 1
      }
    }
  }

  var main: Int { found.withLock { $0.main } }
  var task: Int { found.withLock { $0.task } }
  var elsewhere: Int { found.withLock { $0.elsewhere } }
}
