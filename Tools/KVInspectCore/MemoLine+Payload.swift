internal import KVEngine
internal import MemoCore

// The fields of an app's own type, on a line of JSON:
//
//   "payload":"0x0102...","fieldNames":{"0":"text","1":"sent"}
//
// The payload is the stored one, so that nothing of it is lost; its numbers are those of the store
// that the line is from, and the names beside it make them those of another.

extension MemoLine {
  private static let payload = "payload"
  private static let fieldNames = "fieldNames"

  /// The members for the payload of a memo, with the names that its store has.
  static func payloadMembers(of memo: Memo, _ names: MemoNames) -> [JSONMember] {
    if memo.payload.isEmpty { return [] }
    let numbers = (try? MemoPayload(encoded: memo.payload.rawBytes))?.numbers ?? []
    let members = numbers.compactMap { number in
      names[number].map { JSONMember("\(number)", .text($0)) }
    }
    return [
      JSONMember(payload, .text(KeyText.hexadecimal(memo.payload))),
      JSONMember(fieldNames, .object(members)),
    ]
  }

  /// The payload of a line with the names of its fields; `nil` when the line has none of ours.
  static func payload(in members: [JSONMember]) throws(RefusedLine) -> LinePayload? {
    guard case .string(let string) = members[payload], string.text.hasPrefix("0x"),
      case .object(let entries) = members[fieldNames]
    else { return nil }
    guard let bytes = KeyText.bytes(of: string.text) else {
      throw RefusedLine("payload is not 0x and pairs of hexadecimal digits")
    }
    var names: [Int: String] = [:]
    for entry in entries {
      guard let number = Int(entry.name), case .string(let name) = entry.value, !name.isRepaired
      else { throw RefusedLine("fieldNames has something else than numbers and their names") }
      names[number] = name.text
    }
    do {
      return LinePayload(payload: try MemoPayload(encoded: bytes.rawBytes), names: names)
    } catch {
      throw RefusedLine("payload: \(error.reason)")
    }
  }
}

/// The payload of another store.
package struct LinePayload: Sendable {
  let payload: MemoPayload
  /// The names that its numbers have there.
  let names: [Int: String]

  /// The stored form with the numbers of a store, which gets the names that it lacks.
  ///
  /// Fields without a name mean nothing elsewhere, and are left out.
  func encoded(for timeline: MemoTimeline) throws(MemoError) -> [UInt8] {
    let known = payload.numbers.filter { names[$0] != nil }
    let numbers = try timeline.numbers(of: known.compactMap { names[$0] })
    let pairs = Dictionary(zip(known, numbers)) { first, _ in first }
    return payload.renumbered { pairs[$0] }.encoded
  }
}
