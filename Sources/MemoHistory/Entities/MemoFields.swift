internal import MemoCore

/// The fields of a stored memo by name, for an upgrade to a newer schema.
///
/// What an upgrade leaves alone stays as it is stored, whatever it is. The fields for id, time and
/// text are there like any other, under the names of their coding keys; a memo that has no fields
/// of a type, as imported ones have none, has "id", "createdAt" and "text".
public struct MemoFields: Sendable {
  private(set) var record: PayloadRecord
  private(set) var table: MemoNames
  private let memo: Memo
  /// Whether a name could not be taken.
  private(set) var isOverfull = false

  init(_ record: PayloadRecord, _ table: MemoNames, of memo: Memo) {
    self.record = record
    self.table = table
    self.memo = memo
  }

  /// The names of all fields.
  public var names: [String] { record.fields.compactMap { table[$0.number] } }

  /// Whether there is a field with a name, the coding key.
  public func contains(_ name: String) -> Bool { value(name) != nil }

  /// The value of a field; `nil` is no field.
  ///
  /// - Parameter name: The coding key, at most 1,024 bytes of UTF-8.
  public subscript(name: String) -> MemoFieldValue? {
    get { value(name).map { MemoFieldValue($0.resolved(in: memo), table) } }
    set {
      guard let newValue else {
        remove(name)
        return
      }
      set(newValue.payloadValue(adding: &table), name)
    }
  }

  /// Gives a field another name; one that has it already is replaced.
  ///
  /// - Parameters:
  ///   - name: The old coding key; nothing happens when there is no such field.
  ///   - newName: The new one.
  public mutating func rename(_ name: String, to newName: String) {
    guard let value = value(name) else { return }
    remove(name)
    set(value, newName)
  }

  /// Removes a field; nothing happens when there is none.
  ///
  /// - Parameter name: The coding key.
  public mutating func remove(_ name: String) {
    if let number = table.number(of: name) { record[number] = nil }
  }

  private func value(_ name: String) -> PayloadValue? {
    table.number(of: name).flatMap { record[$0] }
  }

  private mutating func set(_ value: PayloadValue?, _ name: String) {
    if let value, let number = table.number(adding: name) {
      record[number] = value
    } else {
      isOverfull = true
    }
  }
}
