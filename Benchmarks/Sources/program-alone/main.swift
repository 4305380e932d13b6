// What any program of this kind has without the library: the standard library with locks, tasks and
// queues. Its size is taken from that of the program beside it.
import Dispatch
import Synchronization

let greetings = Mutex<[String]>([])
await Task.detached { greetings.withLock { $0.append("hello") } }.value
DispatchQueue(label: "queue").sync { greetings.withLock { $0.append("again") } }
for greeting in greetings.withLock(\.self) { print(greeting) }
