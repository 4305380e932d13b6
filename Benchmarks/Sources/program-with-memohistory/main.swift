// The program beside it, with a store of memos.
import Dispatch
import MemoHistory
import Synchronization

let greetings = Mutex<[String]>([])
await Task.detached { greetings.withLock { $0.append("hello") } }.value
DispatchQueue(label: "queue").sync { greetings.withLock { $0.append("again") } }
for greeting in greetings.withLock(\.self) { print(greeting) }

let store = try MemoStore(at: CommandLine.arguments.last ?? "memos.kv")
let milk = Memo(id: MemoID(1), body: "milk")
_ = try await store.upsert(milk)
for memo in try store.latest(200) { print(memo.createdAt, memo.body) }
_ = try await store.delete(milk.id)
try await store.close()
