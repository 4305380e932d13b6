internal import KVEngine
package import MemoCore

// One memo as one line of JSON:
//
//   {"id":"a7","createdAt":"2024-05-01T12:00:00+09:00","body":"milk"}
//
// "id" is a string or an integer; an id that is neither has "idKind" ("uuid" or "bytes") beside its
// text. "changedAt" is there when the memo has one, and so are the fields of an app's own type: see
// MemoLine+Payload.swift. Other members are ignored.

/// Why a line is no memo, in one line without any of its text.
package struct RefusedLine: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// A memo as it was read from a line.
package struct MemoLine: Sendable {
  package let memo: Memo
  /// How many lone surrogates of the body were replaced by U+FFFD.
  package let replacementCount: Int
  /// The fields of an app's own type, which the memo gets from the store that it goes into.
  package let payload: LinePayload?

  /// Reads a line without its line feed.
  ///
  /// - Parameters:
  ///   - bytes: The line; blanks and a carriage return at its end do not matter.
  ///   - number: The line's number; a byte order mark is skipped on line 1.
  /// - Returns: The memo, `nil` for a blank line.
  /// - Throws: ``RefusedLine`` with the reason.
  package static func parse(_ bytes: [UInt8], number: Int) throws(RefusedLine) -> MemoLine? {
    let start = number == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    if bytes[start...].allSatisfy(\.isJSONBlank) { return nil }
    let value: JSONValue
    do {
      value = try JSONParser.parse(bytes, from: start)
    } catch {
      throw RefusedLine("not JSON at byte \(error.offset): \(error.reason)")
    }
    guard case .object(let members) = value else {
      throw RefusedLine("the line is \(value.kindPhrase), not an object")
    }
    let body = try string("body", in: members)
    guard let createdAt = try timestamp("createdAt", in: members) else {
      throw RefusedLine("createdAt is missing")
    }
    let memo = Memo(
      id: try id(in: members), createdAt: createdAt,
      changedAt: try timestamp("changedAt", in: members), body: body.text)
    return MemoLine(
      memo: memo, replacementCount: body.replacementCount, payload: try payload(in: members))
  }

  private static func string(
    _ name: String, in members: [JSONMember]
  ) throws(RefusedLine) -> JSONString {
    switch members[name] {
    case .string(let string): return string
    case .some(let value): throw RefusedLine("\(name) is \(value.kindPhrase), not a string")
    case nil: throw RefusedLine("\(name) is missing")
    }
  }

  /// A time, `nil` when the member is missing or, as some programs write it, null.
  private static func timestamp(
    _ name: String, in members: [JSONMember]
  ) throws(RefusedLine) -> MemoTimestamp? {
    switch members[name] {
    case .string(let string):
      do {
        return try MemoTimestamp(iso8601: string.text)
      } catch {
        throw RefusedLine("\(name): \(error)")
      }
    case .number: throw RefusedLine("\(name) is a number; seconds or milliseconds is not said")
    case .null where name == "changedAt", nil: return nil
    case .some(let value): throw RefusedLine("\(name) is \(value.kindPhrase), not a string")
    }
  }

  // MARK: - Ids

  private static func id(in members: [JSONMember]) throws(RefusedLine) -> MemoID {
    if case .number(let number) = members["id"] {
      guard let integer = number.integer else {
        throw RefusedLine("id is a number that is no integer of 64 bits")
      }
      return MemoID(integer)
    }
    let string = try string("id", in: members)
    guard !string.isRepaired else { throw RefusedLine("id has half of a surrogate pair") }
    let id: MemoID?
    switch members["idKind"] {
    case nil:
      do {
        id = try MemoID(string.text)
      } catch {
        throw RefusedLine("\(error)")
      }
    case .string(let kind) where kind.text == uuidKind: id = MemoID(uuidText: string.text)
    case .string(let kind) where kind.text == bytesKind: id = MemoID(hexadecimal: string.text)
    default: throw RefusedLine("idKind is neither \(uuidKind) nor \(bytesKind)")
    }
    guard let id else { throw RefusedLine("id is not of the kind that idKind says") }
    return id
  }
}

extension MemoLine {
  private static let uuidKind = "uuid"
  private static let bytesKind = "bytes"

  /// A memo as a value that ``parse(_:number:)`` reads back, byte for byte.
  ///
  /// - Parameters:
  ///   - memo: The memo.
  ///   - names: The names of fields in its store.
  /// - Returns: The value.
  package static func value(of memo: Memo, names: MemoNames = MemoNames()) -> JSONValue {
    var members: [JSONMember] = []
    switch memo.id.kind {
    case .text: members.append(JSONMember("id", .text(memo.id.description)))
    case .integer: members.append(JSONMember("id", .number(JSONNumber(text: memo.id.description))))
    case .uuid:
      members.append(JSONMember("id", .text(memo.id.description)))
      members.append(JSONMember("idKind", .text(uuidKind)))
    case .bytes:
      members.append(JSONMember("id", .text(memo.id.description)))
      members.append(JSONMember("idKind", .text(bytesKind)))
    }
    members.append(JSONMember("createdAt", .text(memo.createdAt.description)))
    if let changedAt = memo.changedAt {
      members.append(JSONMember("changedAt", .text(changedAt.description)))
    }
    members.append(JSONMember("body", .text(memo.body)))
    members += payloadMembers(of: memo, names)
    return .object(members)
  }

  /// Appends a memo as one line with its line feed.
  package static func append(_ memo: Memo, to output: inout [UInt8]) {
    JSONWriter.append(value(of: memo), to: &output)
    output.append(UInt8(ascii: "\n"))
  }
}
