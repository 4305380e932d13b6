import Foundation
import MemoHistory

/// The fourth seed, as over Realm: keys of one and of two fields, lists, optionals, changes of a
/// part, and a type that has changed since.
struct Contact: MemoEntity {
  struct Phone: Codable, Hashable, Sendable {
    var label: String
    var number: String
  }

  var id = UUID()
  var createdAt = MemoTimestamp.now
  var text: String
  var country = ""
  var number = 0
  var phones: [Phone] = []
  var birthday: MemoTimestamp?

  static let byNumber = MemoIndex<Contact>.unique("number") { contact in
    contact.number == 0 ? nil : [.text(contact.country), .integer(contact.number)]
  }

  /// Version 1 had one phone, and its name in "name".
  static let schema = MemoSchema(
    version: 2, defaults: Contact(text: ""), indexes: [byNumber]
  ) { fields, version in
    guard version < 2 else { return }
    fields.rename("name", to: "text")
    fields.remove("phone")
  }
}

/// The same type before the app's update.
struct OldContact: MemoEntity {
  var id = UUID()
  var createdAt = MemoTimestamp.now
  var name: String
  var phone: String
  var text: String { name }
  static let schema = MemoSchema<OldContact>()
}
