/// One kind of work that all engines do; a file each.
protocol Workload: SendableMetatype {
  /// What `--filter` finds.
  static var name: String { get }
  static var summary: String { get }
  /// Checks that all engines give the same answers, then measures.
  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row]
}

/// All workloads, in the order of the table.
enum WorkloadCatalog {
  static let all: [any Workload.Type] = [
    BulkLoad.self, DiskSize.self, Launch.self, DurableInsert.self, GetByID.self, PageRead.self,
    FullScan.self, ProcessStart.self, Memory.self, InsertWhileCompacting.self, DeleteNewest.self,
    DeleteMost.self, Life.self, Growth.self,
  ]
}

/// Throws when an engine's answer is not what was put in.
func check(_ isRight: Bool, _ what: String) throws(BenchmarkError) {
  if !isRight { throw BenchmarkError("wrong answer: \(what)") }
}
