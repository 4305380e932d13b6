package import KVEngine

// FORMAT.md section 10.5: the names of fields, once per store instead of once per memo. A name
// keeps its number for ever, so what is known stays right, and what is not known is found by
// reading again.

/// The names that fields of payloads have in a store, each by its number.
///
/// A value: names that are added to it are its own until a batch has stored them, and then nobody
/// else has given away their numbers.
package struct MemoNames: Sendable {
  /// The most names that a store can have; data that is taken for names would fill any table.
  package static let maximumCount = 65_536
  /// The most bytes that a name can have.
  package static let maximumByteCount = 1024

  /// By number; `nil` where a number has no readable name.
  private var names: [String?] = []
  private var numbers: [Name: Int] = [:]
  /// How many of the numbers are in the store.
  package private(set) var storedCount = 0
  /// The newest schema version by which the store is written; 0 when there is none.
  package var schemaVersion: UInt64 = 0
  /// The one that is in the store.
  private var storedSchemaVersion: UInt64 = 0

  /// A table without names.
  package init() {}

  /// One more than the largest number.
  package var count: Int { names.count }

  /// The name of a number, `nil` for one that the table does not have.
  package subscript(number: Int) -> String? {
    names.indices.contains(number) ? names[number] : nil
  }

  /// The number of a name, `nil` for one that the table does not have.
  package func number(of name: String) -> Int? { numbers[Name(text: name)] }

  /// The number of a name, which is added when it is not there.
  ///
  /// - Returns: `nil` when the name is too long or the table is full.
  package mutating func number(adding name: String) -> Int? {
    if let number = number(of: name) { return number }
    guard names.count < Self.maximumCount, name.utf8.count <= Self.maximumByteCount else {
      return nil
    }
    append(name.contiguous)
    return names.count - 1
  }

  /// Keeps a number, and those below it, from being given to names.
  mutating func reserve(_ number: Int) {
    names += repeatElement(nil, count: max(number + 1 - names.count, 0))
  }

  private mutating func append(_ name: String) {
    // Of two numbers of one name, which only damage makes, the first one is written.
    if number(of: name) == nil { numbers[Name(text: name)] = names.count }
    names.append(name)
  }

  /// A name that is compared by its bytes, unlike a string.
  private struct Name: Hashable, Sendable {
    let text: String

    static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
  }
}

extension MemoNames {
  /// The key, in the space of names, under which the store's schema version stands.
  package static let schemaKey: [UInt8] = [0xFF]

  /// The key of a number.
  package static func key(of number: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  /// The number of a key.
  package static func number(ofKey key: RawSpan) throws(FormatError) -> Int {
    var reader = ByteReader(key, structure: "name key")
    let number = Int(try reader.u32().byteSwapped)
    guard reader.isAtEnd, number < maximumCount else { throw reader.failure("is out of range") }
    return number
  }

  /// Takes one entry of the space; they come in the order of their keys.
  ///
  /// - Throws: `FormatError` for one that is no name, or whose name is there already; numbers that
  ///   are left out have no name.
  mutating func add(key: RawSpan, value: RawSpan) throws(FormatError) {
    if key.byteCount == 1 {
      // Records of others, whose form is looked at here too.
      switch [UInt8](copying: key) {
      case MemoIndexTable.key:
        _ = try MemoIndexTable.decode(value)
        return
      case FeedIdentity.key:
        _ = try FeedIdentity.decode(value)
        return
      default: break
      }
      var reader = ByteReader(value, structure: "schema version")
      let version = try reader.varint()
      guard reader.isAtEnd, [UInt8](copying: key) == Self.schemaKey else {
        throw reader.failure("is not one number")
      }
      schemaVersion = version
      return
    }
    let number = try Self.number(ofKey: key)
    reserve(number - 1)
    let text = unsafe value.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let text, text.utf8.count <= Self.maximumByteCount, names.count == number else {
      reserve(number)
      throw FormatError("name", at: 0, "is not UTF-8 of a permitted length")
    }
    let isKnown = self.number(of: text) != nil
    append(text)
    if isKnown { throw FormatError("name", at: 0, "is there twice") }
  }

  /// Says that everything in the table is in the store.
  mutating func becomeStored() {
    storedCount = names.count
    storedSchemaVersion = schemaVersion
  }

  /// The names that the store does not have yet, with their keys.
  var added: [(key: [UInt8], value: [UInt8])] {
    (storedCount..<names.count).compactMap { number in
      names[number].map { (Self.key(of: number), Array($0.utf8)) }
    }
  }

  /// Whether the schema version is one that the store does not have yet.
  var raisesSchemaVersion: Bool { schemaVersion > storedSchemaVersion }
}
