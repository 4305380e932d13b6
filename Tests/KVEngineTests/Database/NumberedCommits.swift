import KVTestSupport

@testable import KVEngine

/// A history of numbered batches: batch n writes its own key and the number to a common one, so
/// that what is found tells which batches there are, whole and without a hole.
enum NumberedCommits {
  static let newestKey: [UInt8] = [0]

  static func batch(_ number: UInt8) -> WriteBatch {
    var batch = WriteBatch()
    batch.put(value(number), forKey: [1, number])
    batch.put([number], forKey: newestKey)
    // A key that comes and goes.
    if number.isMultiple(of: 2) { batch.delete([2]) } else { batch.put([number], forKey: [2]) }
    return batch
  }

  /// Values of many sizes; some end in zeros, some need padding.
  static func value(_ number: UInt8) -> [UInt8] {
    [UInt8](repeating: number, count: 900 + Int(number) * 37 % 700) + [0, 0, 0]
  }

  /// The numbers of the batches that a database holds; `nil` when it holds part of one.
  static func numbers(in database: Database) throws -> [UInt8]? {
    var found = try StoreSample.contents(database)
    let newest = found.removeValue(forKey: newestKey)
    let toggled = found.removeValue(forKey: [2])
    let numbers = found.keys.map { $0[1] }.sorted()
    let isWhole =
      found.allSatisfy { $0.value == value($0.key[1]) }
      && newest == numbers.last.map { [$0] }
      && toggled == numbers.last.flatMap { $0.isMultiple(of: 2) ? nil : [$0] }
    // The same in the other direction.
    var cursor = try database.cursor(in: .prefix([1]))
    var backward: [UInt8] = []
    while let entry = try cursor.previous() { backward.append(entry.key[1]) }
    return isWhole && backward == numbers.reversed() ? numbers : nil
  }
}
