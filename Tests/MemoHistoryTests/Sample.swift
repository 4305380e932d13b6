import Foundation
import MemoCore
import MemoHistory

/// A memo that holds one value of any type beside what every memo has.
struct Sample<Value: Codable & Hashable & Sendable>: MemoEntity {
  var id = 1
  var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
  var text = "milk"
  var value: Value
}

/// The note of the guides, in its current version.
struct Note: MemoEntity {
  var id = UUID()
  var createdAt = MemoTimestamp.now
  var text: String
  var tags: [String] = []
  var sent = false
  var count = 0

  static let schema = MemoSchema<Note>(defaults: Note(text: ""))
}

/// An enum in each of the forms that Swift gives a coding.
enum Shape: Codable, Hashable, Sendable {
  case empty
  case circle(radius: Double)
  case line(Int, Int)
  indirect case group(Shape, name: String?)
}

enum Colour: String, Codable, Hashable, CaseIterable, Sendable {
  case red, green
}

/// A key of dictionaries that is no text.
struct Place: Codable, Hashable, Sendable {
  var row: Int
  var column: Int
}

struct Address: Codable, Hashable, Sendable {
  var street = "Main"
  var number: Int? = 5
  var lines: [String?] = ["a", nil]
}

extension MemoStore {
  /// What a value becomes when it is stored and read again.
  func stored<Value>(_ value: Value) async throws -> Value where Entity == Sample<Value> {
    try await upsert(Sample(value: value))
    guard let found = try memo(for: 1) else { throw MemoError.missingID }
    return found.value
  }
}
