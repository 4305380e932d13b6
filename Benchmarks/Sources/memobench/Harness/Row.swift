/// What the numbers of a row are.
enum Unit: String {
  case nanoseconds = "ns"
  case bytes = "bytes"
  case ratio = "ratio"
}

/// A bound from the design that MemoKV's number is held against.
enum Goal {
  /// At most so many times the number of a peer.
  case times(Double, of: String)
  /// At most so many times the lowest number of all peers.
  case timesBestPeer(Double)
  /// At most an absolute number, in the unit of the row.
  case atMost(Double)
}

/// The numbers of one engine in a row.
struct Cell {
  let engine: String
  /// The number that ratios are made of.
  var headline: Double
  /// Durations, where there is more than one.
  var samples: Samples?
  var usage: Usage?
  /// Syncs per operation, where engines take turns and have no usage of their own.
  var syncs: Double?
  var note = ""

  init(_ engine: String, _ headline: Double, note: String = "") {
    self.engine = engine
    self.headline = headline
    self.note = note
  }

  /// A cell whose headline is a percentile of durations.
  init(_ engine: String, _ samples: Samples, share: Double = 0.5, note: String = "") {
    self.init(engine, Double(samples.percentile(share)), note: note)
    self.samples = samples
  }
}

/// One line of work and the numbers of all engines for it.
struct Row {
  /// Name of the workload, with what varies in it.
  let name: String
  let summary: String
  var unit = Unit.nanoseconds
  /// Which of our engines the goal is about.
  var subject = "memokv"
  var goals: [Goal] = []
  var cells: [Cell] = []
  /// The curve that the row is a point of.
  var growth: (work: String, count: Int)?

  /// The lowest number of an engine that is none of ours and none of the raw device.
  var bestPeer: Cell? {
    cells.filter { EngineCatalog.isPeer($0.engine) }.min { $0.headline < $1.headline }
  }

  func cell(_ engine: String) -> Cell? {
    cells.first { $0.engine == engine }
  }

  /// The number that a goal allows; `nil` when the peer was not measured.
  func bound(of goal: Goal) -> Double? {
    switch goal {
    case .times(let factor, of: let peer): cell(peer).map { $0.headline * factor }
    case .timesBestPeer(let factor): bestPeer.map { $0.headline * factor }
    case .atMost(let number): number
    }
  }
}
