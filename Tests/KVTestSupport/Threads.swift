import Foundation
import KVEngine

/// Runs a closure on threads of its own, all at the same time, and waits until all have returned.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    Thread {
      body(index)
      group.leave()
    }.start()
  }
  group.wait()
}

/// What threads have to report; expectations belong on the thread of the test.
package final class Findings: Sendable {
  private let texts = Lock<[String]>([])

  package init() {}

  /// Notes what did not hold.
  package func check(_ condition: Bool, _ text: @autoclosure () -> String) {
    if condition { return }
    let text = text()
    texts.withLock { $0.append(text) }
  }

  /// Notes what a closure throws.
  package func catching(_ text: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      check(false, "\(text): \(error)")
    }
  }

  /// The first of what did not hold.
  package var all: [String] { texts.withLock { Array($0.prefix(10)) } }
}
