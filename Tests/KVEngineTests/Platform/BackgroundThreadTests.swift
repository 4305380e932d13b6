import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

@_silgen_name("pthread_setattr_default_np")
private func setDefaultAttributes(_ attributes: UnsafePointer<pthread_attr_t>) -> Int32

/// Threads that cannot be started.
@Suite struct BackgroundThreadTests {
  /// Lets new threads of this process have stacks of that many bytes.
  private static func setStack(to byteCount: Int) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    return pthread_attr_setstacksize(&attributes, byteCount) == 0
      && setDefaultAttributes(&attributes) == 0
  }

  @Test func withoutRoomForAThreadCommitsGoOnAndTheNextOneTriesAgain() async throws {
    let store = try StoreSample(on: .posix)
    await #expect(processExitsWith: .success) { [path = store.path as String] in
      let database = try Database(at: path)
      try #require(BackgroundThreadTests.setStack(to: 1 << 46))
      try database.put([1], [1])
      let failure = try database.statistics().backgroundFailure
      try #require(BackgroundThreadTests.setStack(to: 1 << 20))
      guard case .io(let cause) = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(cause.code == EAGAIN)
      #expect(cause.description.hasPrefix("start of background thread failed: "))
      try database.put([2], [2])
      let isTended = try eventually { try database.statistics().backgroundFailure == nil }
      #expect(isTended)
      try database.close()
    }
    #expect(try StoreSample.contents(store.open()) == [[1]: [1], [2]: [2]])
  }
}
