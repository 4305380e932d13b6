import Foundation
import MemoHistory
import MemoHistoryTesting
import Testing

@Suite struct ContactsTests {
  private let store = MemoStore<Contact>.inMemory()
  private let ada = Contact(text: "Ada", country: "GB", number: 1)

  @Test func aKeyOfTwoFieldsFindsAndIsHeldOnce() async throws {
    try await store.insert(ada)
    try await store.insert(Contact(text: "Bert", country: "FR", number: 1))
    #expect(try store.memo(at: ["GB", 1], in: Contact.byNumber) == ada)
    #expect(try store.memo(at: ["GB", 2], in: Contact.byNumber) == nil)
    let rival = Contact(text: "Rival", country: "GB", number: 1)
    do throws(MemoError) {
      try await store.insert(rival)
      Issue.record("the key is held already")
    } catch {
      guard case .duplicateKey(index: "number", _) = error else { throw error }
    }
    // Without a number there is no key to hold.
    try await store.insert(Contact(text: "Cleo"))
    try await store.insert(Contact(text: "Dora"))
    #expect(try store.count() == 4)
  }

  @Test func aPartIsChangedOrMade() async throws {
    for number in ["1", "2"] {
      try await store.update(ada.id, default: ada) {
        $0.phones.append(Contact.Phone(label: "home", number: number))
      }
    }
    let stored = try #require(try store.memo(for: ada.id))
    #expect(stored.phones.map(\.number) == ["1", "2"] && stored.birthday == nil)
    #expect(stored.text == "Ada")
  }

  @Test func whatAnOlderAppHasWrittenIsRead() async throws {
    let volume = TestVolume()
    let old = try volume.open(OldContact.self)
    let written = OldContact(name: "Ada", phone: "1")
    try await old.insert(written)
    try await old.close()
    let new = try volume.relaunch(Contact.self)
    let read = try #require(try new.latest(1).first)
    #expect(read.id == written.id && read.text == "Ada" && read.phones.isEmpty)
    try await new.indexesAreReady()
    try await new.update(read.id) { ($0.country, $0.number) = ("GB", 7) }
    #expect(try new.memo(at: ["GB", 7], in: Contact.byNumber)?.text == "Ada")
  }
}
