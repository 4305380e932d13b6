import Foundation
import MemoHistory
import Observation

/// The third seed: earthquakes of a feed, imported again and again, sorted and grouped as one
/// likes.
struct Quake: MemoEntity, Decodable {
  var id: String
  var createdAt: MemoTimestamp
  var text: String
  var magnitude: Double

  static let byMagnitude = MemoIndex<Quake>.ordered("magnitude") { [.double($0.magnitude)] }
  static let schema = MemoSchema<Quake>(indexes: [byMagnitude])
}

@MainActor @Observable final class QuakesModel {
  enum Grouping { case none, day, strength }

  let quakes: LiveHistory<Quake>
  private let store: MemoStore<Quake>

  init(_ store: MemoStore<Quake>) {
    self.store = store
    quakes = LiveHistory(store)
  }

  /// What is there already changes nothing; what cannot be stored is counted and says why.
  func update(from feed: [Quake]) async throws -> MemoImportReport {
    try await store.importMemos(feed, origin: "feed")
  }

  func show(search: String = "", atLeast magnitude: Double = 0, groupedBy grouping: Grouping) {
    var query = MemoQuery<Quake>(search: search) { $0.magnitude >= magnitude }
    switch grouping {
    case .none: break
    case .day: query.sections = .day
    case .strength: query.sections = .label { $0.magnitude < 5 ? "light" : "strong" }
    }
    quakes.query = query
  }

  func strongest(_ count: Int) throws -> [Quake] {
    try store.memos(in: Quake.byMagnitude, count: count, descending: true)
  }

  func count(since time: MemoTimestamp) async throws -> Int {
    try await store.read { quakes in try quakes.count(since: time) }
  }
}
