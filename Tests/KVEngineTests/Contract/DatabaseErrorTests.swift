import Glibc
import Testing

@testable import KVEngine

/// What errors say to people.
@Suite struct DatabaseErrorTests {
  private static let failure = IOFailure(operation: "write", fileName: "000001.log", code: ENOSPC)
  private static let corruption = Corruption(
    fileName: "000002.seg", offset: 48, structure: "block", reason: "checksum does not match")

  private static let all: [DatabaseError] = [
    .notWritten(failure), .outcomeUnknown(failure), .diskFull(failure),
    .readOnlyLocation(failure), .alreadyOpen, .usedAfterFork, .suspended,
    .unsupportedFormat(fileName: "MANIFEST", found: 9, known: 0), .damaged(corruption),
    .notAvailableYet(failure), .busy, .limitExceeded(what: "key", maximum: 65_535), .cancelled,
    .closed, .failed, .notFound(fileName: "notes"), .invalidArgument("a key is empty"),
    .preconditionFailed(index: 3), .io(failure),
  ]

  @Test func everyErrorSaysSomethingOfItsOwnInOneLine() {
    let texts = Self.all.map { "\($0)" }
    #expect(Set(texts).count == texts.count)
    for text in texts { #expect(!text.isEmpty && !text.contains("\n")) }
  }

  @Test func textsNameTheFileThePlaceAndTheReason() {
    #expect(
      "\(DatabaseError.damaged(Self.corruption))"
        == "the store is damaged: 000002.seg at byte 48: block: checksum does not match")
    #expect("\(Self.failure)" == "write of 000001.log failed: No space left on device")
    #expect("\(DatabaseError.preconditionFailed(index: 3))".contains("3"))
    #expect("\(DatabaseError.limitExceeded(what: "key", maximum: 65_535))".contains("65535"))
    let format = "\(DatabaseError.unsupportedFormat(fileName: "MANIFEST", found: 9, known: 0))"
    #expect(format.contains("MANIFEST") && format.contains("9") && format.contains("0"))
  }

  @Test func aDecodersFindingBecomesAPlaceInTheFile() {
    let found = FormatError("record", at: 12, "ends too early")
    #expect(
      Corruption(found, fileName: "000001.log", base: 100)
        == Corruption(
          fileName: "000001.log", offset: 112, structure: "record", reason: "ends too early"))
    #expect(Corruption(found, fileName: "000001.log").offset == 12)
  }
}
