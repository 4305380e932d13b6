import Foundation
import Testing

@testable import KVInspectCore

/// Our parser and writer against Foundation's on the rows that both read.
@Suite struct JSONFoundationTests {
  static let lines = (try? Fixture.lines(Fixture.edge)) ?? []

  /// Whether two values are the same, strings byte by byte.
  private func isSame(_ ours: JSONValue, _ theirs: Any) -> Bool {
    switch ours {
    case .null: return theirs is NSNull
    case .bool(let isTrue): return theirs as? Bool == isTrue
    case .number(let number):
      guard let double = Double(number.text) else { return false }
      return (theirs as? NSNumber)?.doubleValue == double
    case .string(let string):
      return (theirs as? String).map { $0.utf8.elementsEqual(string.text.utf8) } ?? false
    case .array(let elements):
      guard let array = theirs as? [Any], array.count == elements.count else { return false }
      return zip(elements, array).allSatisfy(isSame)
    case .object(let members):
      guard let object = theirs as? [String: Any], object.count == members.count else {
        return false
      }
      return members.allSatisfy { member in
        object[member.name].map { isSame(member.value, $0) } ?? false
      }
    }
  }

  private func foundation(_ bytes: [UInt8]) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
  }

  private let byteOrderMarkString = Array("\"\u{FEFF}".utf8)

  @Test func rowsAreThere() {
    #expect(Self.lines.count == 404)
  }

  @Test func readsTheSameAsFoundation() throws {
    var sameCount = 0
    for (index, line) in Self.lines.enumerated() {
      let ours = try JSONParser.parse(line)
      // Foundation refuses half a surrogate pair, and drops a byte order mark that begins a string
      // without an escape.
      guard let theirs = try? foundation(line), !line.contains(byteOrderMarkString) else {
        continue
      }
      #expect(isSame(ours, theirs), "line \(index + 1)")
      sameCount += 1
    }
    #expect(sameCount == 395)
  }

  @Test func foundationReadsWhatWeWrite() throws {
    for (index, line) in Self.lines.enumerated() {
      let value = try JSONParser.parse(line)
      var output: [UInt8] = []
      JSONWriter.append(value, to: &output)
      #expect(isSame(value, try foundation(output)), "line \(index + 1)")
      var again: [UInt8] = []
      JSONWriter.append(try JSONParser.parse(output), to: &again)
      #expect(again == output, "line \(index + 1)")
    }
  }
}
