import Foundation
import MemoHistory
import Observation

/// The second seed: client, repository, store and view model of a list of things to do.
struct Todo: MemoEntity {
  var id = UUID()
  var createdAt = MemoTimestamp.now
  var text: String
  var isDone = false
  static let schema = MemoSchema<Todo>(defaults: Todo(text: ""))
}

/// What the server knows; an app's own.
struct TodoClient: Sendable {
  var fetch: @Sendable () async throws -> [Todo]
}

/// Generic over what it keeps, as all it asks of a store is what every entity has.
struct Repository<Entity: MemoEntity>: Sendable {
  let store: MemoStore<Entity>

  func save(_ entities: [Entity], origin: String? = nil) async throws {
    try await store.upsert(contentsOf: entities, origin: origin)
  }

  func all(where filter: @escaping @Sendable (Entity) -> Bool) async throws -> [Entity] {
    try await store.memos(MemoQuery(limit: .max, filter: filter))
  }
}

@MainActor @Observable final class TodoListModel {
  let todos: LiveHistory<Todo>
  var draft = ""
  private let client: TodoClient
  private let repository: Repository<Todo>

  init(_ store: MemoStore<Todo>, client: TodoClient) {
    todos = LiveHistory(store)
    self.client = client
    repository = Repository(store: store)
  }

  func add() {
    guard !draft.isEmpty else { return }
    todos.insert(Todo(text: draft))
    draft = ""
  }

  func toggle(_ todo: Todo) { todos.update(todo.id) { $0.isDone.toggle() } }

  func refresh() async throws { try await repository.save(client.fetch(), origin: "server") }

  /// All at once, so that one undo could not leave half of them.
  func removeDone() async throws -> [MemoDeletion] {
    let done = try await repository.all { $0.isDone }
    return try await repository.store.delete(contentsOf: done.map(\.id))
  }
}
