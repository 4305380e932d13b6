import Foundation
import MemoCore
import Testing

@testable import MemoHistory

/// Types of properties may grow, and what does not fit is an error that says which field.
@Suite struct WideningTests {
  private func read<Old, New>(_ value: Old, as _: New.Type) async throws -> New
  where Old: Codable & Hashable & Sendable, New: Codable & Hashable & Sendable {
    let timeline = MemoTimeline.inMemory()
    try await MemoStore<Sample<Old>>(timeline).insert(Sample(value: value))
    return try #require(try MemoStore<Sample<New>>(timeline).memo(for: 1)).value
  }

  @Test func integersGrow() async throws {
    #expect(try await read(Int8(-5), as: Int64.self) == -5)
    #expect(try await read(UInt8(200), as: Int.self) == 200)
    #expect(try await read(Int.max, as: UInt64.self) == UInt64(Int.max))
    #expect(try await read(Int64.min, as: Int128.self) == Int128(Int64.min))
    #expect(try await read(UInt128.max / 2, as: Int128.self) == Int128.max)
    #expect(try await read([1, 2, 3] as [UInt8], as: [Int].self) == [1, 2, 3])
    #expect(try await read([1, 2, 3] as [Int], as: [UInt8].self) == [1, 2, 3])
  }

  @Test func othersGrow() async throws {
    #expect(try await read(Float(0.5), as: Double.self) == 0.5)
    #expect(try await read(3, as: Double.self) == 3)
    #expect(try await read(5, as: Int?.self) == 5)
    #expect(try await read("x", as: String?.self) == "x")
    #expect(try await read("red", as: Colour.self) == .red)
    #expect(try await read(["a", "a"], as: Set<String>.self) == ["a"])
    #expect(try await read(UUID().uuidString, as: UUID.self).uuidString.count == 36)
  }

  private func reason<Old, New>(_ value: Old, as type: New.Type) async throws -> String
  where Old: Codable & Hashable & Sendable, New: Codable & Hashable & Sendable {
    do {
      _ = try await read(value, as: type)
      return "none"
    } catch let MemoError.unreadable(id, reason) {
      #expect(id == MemoID(1))
      return reason
    }
  }

  @Test func whatDoesNotFitIsAnErrorWithoutTheValue() async throws {
    let unknown = "field value has a value that the app does not know"
    let wrong = "field value.0 is of another kind"
    #expect(try await reason(300, as: Int8.self) == "field value is of another kind")
    #expect(try await reason(-1, as: UInt.self) == "field value is of another kind")
    #expect(try await reason("12", as: Int.self) == "field value is of another kind")
    #expect(try await reason(1.5, as: Int.self) == "field value is of another kind")
    #expect(try await reason(Int.max, as: Double.self) == "field value is of another kind")
    #expect(try await reason("secret", as: Colour.self) == unknown)
    #expect(try await reason(nil as Int?, as: Int.self) == "field value has no value")
    #expect(try await reason(["a", "secret"], as: [Int].self) == wrong)
    #expect(try await reason(["secret": "x"], as: [String: Int].self) == wrong)
    #expect(try await reason(Address(), as: Place.self) == "field value.row is missing")
    #expect(try await reason("secret", as: UUID.self) == unknown)
    #expect(try await reason("secret", as: MemoTimestamp.self) == "field value is of another kind")
    #expect(try await reason(["x"], as: [String: String].self) == "field value is of another kind")
    #expect(try await reason(Shape.empty, as: Colour.self) == "field value is of another kind")
  }

  @Test func anUnknownCaseIsAnErrorOfThatMemoOnly() async throws {
    enum Fewer: Codable, Hashable { case empty }
    #expect(try await read(Shape.empty, as: Fewer.self) == .empty)
    let reason = try await reason(Shape.circle(radius: 1), as: Fewer.self)
    #expect(reason == "field value is of another kind")
  }

  @Test func fieldsOfAnotherIDAreRefused() async throws {
    struct Renamed: MemoEntity {
      var other: Int
      var createdAt: MemoTimestamp
      var text: String
      var id: Int { other + 1 }
    }
    struct Original: MemoEntity {
      var id: Int
      var other = 5
      var createdAt = MemoTimestamp.now
      var text = ""
    }
    let timeline = MemoTimeline.inMemory()
    try await MemoStore<Original>(timeline).insert(Original(id: 1))
    let error = #expect(throws: MemoError.self) { try MemoStore<Renamed>(timeline).memo(for: 1) }
    #expect(error == .unreadable(MemoID(1), reason: "its fields hold another id"))
  }

  @Test func whatATypeRefusesToWriteIsNotWritten() async throws {
    struct Stubborn: Codable, Hashable {
      func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
    }
    let store = MemoStore<Sample<Stubborn>>.inMemory()
    await #expect(throws: MemoError.unencodable(reason: "the app's type refuses it")) {
      try await store.insert(Sample(value: Stubborn()))
    }
    #expect(try store.count() == 0)
    #expect(try store.timeline.reloadedNames().count == 0)
  }
}
