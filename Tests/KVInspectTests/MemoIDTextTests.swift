import MemoCore
import Testing

@testable import KVInspectCore

@Suite struct MemoIDTextTests {
  private static let uuid = MemoID(uuid: (high: 0x0A1B_2C3D_4E5F_4071, low: 0x8293_A4B5_C6D7_E8F9))

  @Test func plainTextIsOnlyAText() throws {
    #expect(try MemoID.readings(of: "milk") == [MemoID("milk")])
    #expect(MemoID.readings(of: "").isEmpty)
  }

  @Test func digitsCanBeANumberOrBytes() throws {
    #expect(
      try MemoID.readings(of: "12") == [MemoID("12"), MemoID(12), MemoID(bytes: [0x12])])
    #expect(try MemoID.readings(of: "-5") == [MemoID("-5"), MemoID(-5)])
    #expect(try MemoID.readings(of: "007") == [MemoID("007")])
    #expect(try MemoID.readings(of: "+7") == [MemoID("+7")])
    #expect(try MemoID.readings(of: "-0") == [MemoID("-0")])
  }

  @Test func everyIDIsAmongTheReadingsOfItsDescription() throws {
    let ids = [
      try MemoID("a"), MemoID(.min), MemoID(0), try MemoID(bytes: [0, 0xAB]), Self.uuid,
      MemoID(uuid: (high: 0, low: 0)),
    ]
    for id in ids { #expect(MemoID.readings(of: id.description).contains(id)) }
  }

  @Test func uuidsMayBeUpperCase() {
    #expect(MemoID(uuidText: "0A1B2C3D-4E5F-4071-8293-A4B5C6D7E8F9") == Self.uuid)
  }

  @Test(arguments: [
    "", "0a1b2c3d4e5f40718293a4b5c6d7e8f9", "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f",
    "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8fg", "+a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9",
    "0a1b2c3d-4e5f-4071-+293-a4b5c6d7e8f9", "-a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9",
    "0a1b2c3d-4e5f-407108293-a4b5c6d7e8f9", "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9-",
    "\u{E9}1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9",
  ])
  func refusesWhatIsNoUUID(text: String) {
    #expect(MemoID(uuidText: text) == nil)
  }

  @Test(arguments: ["", "abc", "0g", "\u{FF11}\u{FF12}", " 1"])
  func refusesWhatIsNotHexadecimal(text: String) {
    #expect(MemoID(hexadecimal: text) == nil)
  }
}
