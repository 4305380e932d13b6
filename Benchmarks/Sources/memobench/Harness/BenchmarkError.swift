/// Why a measurement could not be made.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// What a store cannot do through its public interface; its cell in the table stays empty.
  static func unsupported(_ what: String) -> BenchmarkError {
    BenchmarkError("no \(what)", isUnsupported: true)
  }

  private init(_ description: String, isUnsupported: Bool) {
    self.description = description
    self.isUnsupported = isUnsupported
  }

  private(set) var isUnsupported = false
}

/// Runs calls that throw anything; their error becomes ours.
@discardableResult
func measured<Result: ~Copyable>(
  _ body: () throws -> Result
) throws(BenchmarkError) -> Result {
  do {
    return try body()
  } catch let error as BenchmarkError {
    throw error
  } catch {
    throw BenchmarkError("\(error)")
  }
}
