import Foundation

@testable import KVEngine

/// Runs a closure on threads of its own, all at the same time, and waits until all have returned.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
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
final class Findings: Sendable {
  private let texts = Lock<[String]>([])

  /// Notes what did not hold.
  func check(_ condition: Bool, _ text: @autoclosure () -> String) {
    if condition { return }
    let text = text()
    texts.withLock { $0.append(text) }
  }

  /// Notes what a closure throws.
  func catching(_ text: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      check(false, "\(text): \(error)")
    }
  }

  /// The first of what did not hold.
  var all: [String] { texts.withLock { Array($0.prefix(10)) } }
}
