import MemoHistory

func demo(folder: String) async throws {
  // Synchronous, the read as well: the memos are there before the first frame.
  let store = try MemoStore(at: folder)
  for memo in try store.latest(200) { print(memo.createdAt, memo.body) }

  // Durable when it returns.
  let milk = Memo(id: MemoID(1), body: "milk")
  try await store.upsert(milk)
  try await store.upsert(Memo(id: milk.id, createdAt: milk.createdAt, body: "oat milk"))

  // Older memos, page by page.
  var page = try store.page(count: 50)
  while let next = page.next { page = try store.page(after: next, count: 50) }

  try await store.delete(milk.id)
  try await store.close()
}
