import MemoCore
import Testing

@testable import KVInspectCore

/// The two hand-made files, line by line as `import` reads them.
@Suite struct MemoLineFileTests {
  struct Outcome {
    var memos: [Int: MemoLine] = [:]
    var reasons: [Int: String] = [:]
    var blanks: [Int] = []
  }

  private func readAll(_ path: String) throws -> Outcome {
    var outcome = Outcome()
    var reader = try LineReader(path: path)
    while let line = try reader.next() {
      guard case .bytes(let bytes) = line.content else {
        Issue.record("line \(line.number) is too long")
        continue
      }
      do {
        let memo = try MemoLine.parse(bytes, number: line.number)
        if let memo {
          outcome.memos[line.number] = memo
        } else {
          outcome.blanks.append(line.number)
        }
      } catch {
        outcome.reasons[line.number] = "\(error)"
      }
    }
    return outcome
  }

  @Test func brokenLinesAreRefusedAndTheOthersTaken() throws {
    let outcome = try readAll(Fixture.broken)
    for position in 0..<26 {
      let memo = outcome.memos[2 * position + 1]?.memo
      #expect(memo?.id == (try MemoID("ok-\(position)")))
      #expect(memo?.body == "good line \(position)")
    }
    // The carriage return and the missing line feed at the end do no harm.
    #expect(outcome.memos[48]?.memo.body == "ends with CR")
    #expect(outcome.memos[52]?.memo.id == (try MemoID("b20")))
    #expect(outcome.memos.count == 28)
    #expect(outcome.blanks == [30, 32])
    #expect(
      outcome.reasons == [
        2: "not JSON at byte 73: ends inside a string",
        4: "not JSON at byte 75: expected a name in double quotes",
        6: "not JSON at byte 1: expected a name in double quotes",
        8: "not JSON at byte 0: a value does not begin like this",
        10: "not JSON at byte 69: is not UTF-8", 12: "not JSON at byte 68: is not UTF-8",
        14: "not JSON at byte 66: is not UTF-8",
        16: "not JSON at byte 11: the object has this name twice",
        18: "not JSON at byte 23: a value does not begin like this",
        20: "body is missing", 22: "id is missing", 24: "the line is an array, not an object",
        26: "the line is null, not an object", 28: "the line is a string, not an object",
        34: "not JSON at byte 68: a control character must be written as an escape",
        36: "not JSON at byte 68: a control character must be written as an escape",
        38: "not JSON at byte 70: is not UTF-8", 40: "not JSON at byte 71: unknown escape",
        42: "not JSON at byte 73: something follows the value",
        44: "not JSON at byte 122: nests deeper than 64 levels",
        46: "body is an object, not a string",
        50: "not JSON at byte 0: a value does not begin like this",
      ])
  }

  @Test func edgeRowsAreTakenByWhatTheyExpect() throws {
    let outcome = try readAll(Fixture.edge)
    let lines = try Fixture.lines(Fixture.edge)
    #expect(outcome.blanks.isEmpty)
    #expect(outcome.memos.count + outcome.reasons.count == lines.count)
    for (index, line) in lines.enumerated() {
      guard case .object(let members) = try JSONParser.parse(line),
        case .string(let expect) = members["expect"], case .string(let kind) = members["kind"],
        case .string(let body) = members["body"]
      else {
        Issue.record("line \(index + 1) is no row")
        continue
      }
      let memo = outcome.memos[index + 1]
      let reason = outcome.reasons[index + 1]
      switch expect.text {
      case "keep", "keep-both", "keep-or-clamp", "idempotent", "replace-or-conflict":
        #expect(memo?.memo.body.utf8.elementsEqual(body.text.utf8) == true, "line \(index + 1)")
        #expect(memo?.replacementCount == 0, "line \(index + 1)")
      case "repair-or-quarantine" where kind.text == "surrogate":
        #expect((memo?.replacementCount ?? 0) > 0, "line \(index + 1)")
      case "repair-or-quarantine": #expect(reason == "id has half of a surrogate pair")
      case "reject-with-reason": #expect(reason != nil, "line \(index + 1)")
      default: #expect((memo == nil) == (reason != nil), "line \(index + 1)")
      }
    }
    // Thirty of the odd forms of a time; the ids that are empty, null and half a surrogate pair.
    #expect(outcome.reasons.count == 33)
  }

  @Test func memosOfTheEdgeRowsComeBackFromOurLines() throws {
    let outcome = try readAll(Fixture.edge)
    for (number, line) in outcome.memos {
      var output: [UInt8] = []
      MemoLine.append(line.memo, to: &output)
      #expect(output.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A }, "line \(number)")
      let again = try MemoLine.parse(output, number: number)
      #expect(again?.memo == line.memo, "line \(number)")
    }
  }
}
