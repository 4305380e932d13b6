/// A launch among ten million memos; loads for minutes, so that it runs only when it is named.
enum TenMillion: Workload {
  static let name = "ten-million"
  static let summary = "launch among 10,000,000 memos; only with --filter ten-million"
  static var isOnRequest: Bool { true }

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    [try Launch.first(bench, 10_000_000)]
  }
}
