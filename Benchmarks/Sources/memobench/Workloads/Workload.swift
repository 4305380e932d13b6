/// One kind of work that all engines do; a file each.
protocol Workload: SendableMetatype {
  /// What `--filter` finds.
  static var name: String { get }
  static var summary: String { get }
  /// Whether it runs only when `--filter` is its whole name.
  static var isOnRequest: Bool { get }
  /// Checks that all engines give the same answers, then measures.
  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row]
}

extension Workload {
  static var isOnRequest: Bool { false }

  /// Whether a filter of the command line means this one.
  static func isChosen(by filter: String?) -> Bool {
    isOnRequest ? filter == name : filter.map { name.contains($0) } ?? true
  }
}

/// All workloads, in the order of the table.
enum WorkloadCatalog {
  static let all: [any Workload.Type] = [
    BulkLoad.self, DiskSize.self, Launch.self, LaunchCold.self, DurableInsert.self, GetByID.self,
    Exists.self, PageRead.self, FullScan.self, ProcessStart.self, Memory.self, LibrarySize.self,
    InsertWhileCompacting.self, DeleteNewest.self, DeleteOne.self, DeleteMost.self,
    ConcurrentInsert.self, Turns.self, MixedDay.self, UnorderedLoad.self, DatabaseBench.self,
    YCSB.self, Life.self, Codec.self, LiveLists.self, Growth.self, TenMillion.self,
  ]
}

/// Throws when an engine's answer is not what was put in.
func check(_ isRight: Bool, _ what: String) throws(BenchmarkError) {
  if !isRight { throw BenchmarkError("wrong answer: \(what)") }
}
