// Payloads that go from one store to another: there the same names have other numbers.

extension MemoPayload {
  /// The numbers of all fields, those of records inside the payload included; ascending.
  package var numbers: [Int] {
    var numbers: Set<Int> = []
    record.collectNumbers(into: &numbers)
    return numbers.sorted()
  }

  /// The payload with other numbers; fields that get none are left out.
  package func renumbered(_ number: (Int) -> Int?) -> MemoPayload {
    MemoPayload(schemaVersion: schemaVersion, record: record.renumbered(number))
  }
}

extension PayloadRecord {
  fileprivate func collectNumbers(into numbers: inout Set<Int>) {
    for field in fields {
      numbers.insert(field.number)
      field.value.collectNumbers(into: &numbers)
    }
  }

  fileprivate func renumbered(_ number: (Int) -> Int?) -> PayloadRecord {
    PayloadRecord(
      fields.compactMap { field in
        number(field.number).map { Field(number: $0, value: field.value.renumbered(number)) }
      })
  }
}

extension PayloadValue {
  fileprivate func collectNumbers(into numbers: inout Set<Int>) {
    switch self {
    case .record(let record): record.collectNumbers(into: &numbers)
    case .list(let values): for value in values { value.collectNumbers(into: &numbers) }
    case .map(let entries): for entry in entries { entry.value.collectNumbers(into: &numbers) }
    default: break
    }
  }

  fileprivate func renumbered(_ number: (Int) -> Int?) -> PayloadValue {
    switch self {
    case .record(let record): .record(record.renumbered(number))
    case .list(let values): .list(values.map { $0.renumbered(number) })
    case .map(let entries):
      .map(entries.map { Entry(key: $0.key, value: $0.value.renumbered(number)) })
    default: self
    }
  }
}
