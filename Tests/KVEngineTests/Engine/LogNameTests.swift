import KVTestSupport
import Testing

@testable import KVEngine

/// Names that are taken stay whose they are.
@Suite struct LogNameTests {
  @Test func aLogPassesOverANameThatIsTaken() throws {
    let store = StoreSample()
    let database = try store.open()
    try database.put([1], [1])
    let next = try store.files.list(store.path).filter { $0.hasSuffix(".log") }
    #expect(next == ["000001.log"])
    // The segment takes 2, so the next log would be 3.
    let taken = "/store/000003.log"
    try (store.files as? MemoryFileSystem)?.create(taken, [9, 9, 9])
    try database.flush()
    try database.put([2], [2])
    #expect(try store.names().contains("000004.log"))
    try database.close()
    #expect(try StoreSample.contents(store.open()) == [[1]: [1], [2]: [2]])
  }
}
