import Foundation
import Testing

@testable import KVEngine

/// When system calls are repeated.
@Suite struct SystemCallTests {
  @Test(arguments: [0, 1, 1000])
  func anInterruptedCallIsRepeated(interruptions: Int) throws {
    var calls = 0
    let result = try SystemCall.repeated(.read, "/a") { () -> Int in
      calls += 1
      errno = EINTR
      return calls > interruptions ? 42 : -1
    }
    #expect(result == 42)
    #expect(calls == interruptions + 1)
  }

  @Test(arguments: [EIO, ENOSPC, EAGAIN, EBADF])
  func aFailedCallIsNot(number: Int32) {
    var calls = 0
    let found = code {
      _ = try SystemCall.repeated(.read, "/a") { () -> Int in
        calls += 1
        errno = number
        return -1
      }
    }
    #expect(found == number)
    #expect(calls == 1)
  }

  @Test(arguments: [EINTR, EIO, EINVAL])
  func aSyncIsNeverRepeated(number: Int32) {
    var calls = 0
    let found = code {
      try SystemCall.once(.sync, "/a") { () -> Int32 in
        calls += 1
        errno = number
        return -1
      }
    }
    #expect(found == number)
    #expect(calls == 1)
  }

  @Test(arguments: [(EIO, 2), (EBADF, 1), (EINTR, 1)])
  func aReadIsTriedAgainOnceAfterAnInputError(number: Int32, expectedCalls: Int) {
    var calls = 0
    let found = code {
      _ = try SystemCall.rereading { () throws(SystemError) in
        calls += 1
        throw SystemError(.read, "/a", code: number)
      }
    }
    #expect(found == number)
    #expect(calls == expectedCalls)
  }

  @Test func theSecondReadCounts() throws {
    var calls = 0
    let count = try SystemCall.rereading { () throws(SystemError) in
      calls += 1
      if calls == 1 { throw SystemError(.read, "/a", code: EIO) }
      return 7
    }
    #expect(count == 7)
  }

  @Test func aWeakerFlushFollowsOnlyWhenTheStrongerIsUnknown() {
    let unsupported = Set([ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY])
    for number: Int32 in 1..<200 {
      #expect(FileSync.isUnsupported(number) == unsupported.contains(number), "error \(number)")
    }
  }

  @Test func clocksTellNanosecondsAndMicroseconds() {
    let (start, wall) = (MonotonicClock.nanoseconds(), WallClock.microseconds())
    let date = Date().timeIntervalSince1970
    #expect(MonotonicClock.nanoseconds() >= start)
    // One day leaves room for any clock change during the test, none for another unit.
    #expect(abs(Double(wall) / 1_000_000 - date) < 86_400)
  }
}
