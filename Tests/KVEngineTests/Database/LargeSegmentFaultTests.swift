import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Segments that are written in several pieces, one of which fails.
@Suite struct LargeSegmentFaultTests {
  private var batch: WriteBatch {
    var random = SeededGenerator(seed: 3)
    var batch = WriteBatch()
    for key in 0..<40 as Range<UInt8> { batch.put(random.bytes(9000), forKey: [key]) }
    return batch
  }

  @Test(.bug(id: "B59"), arguments: StoreVolume.allCases, [false, true])
  func whicheverPieceFailsNothingIsLost(volume: StoreVolume, isLoad: Bool) throws {
    for position in 1... {
      var store = try StoreSample(on: volume)
      store.options.logByteCount = isLoad ? 4096 : 4 << 20
      let files = store.addFaults()
      let database = try store.open()
      try database.put([1], [250])
      if !isLoad { try database.write(batch) }
      let segments = try store.names().filter { $0.hasSuffix(".seg") }
      files.plan(Fault(.error(EIO), at: position, of: [.write]))
      var isDone = false
      do throws(DatabaseError) {
        if isLoad { try database.write(batch) } else { try database.flush() }
        isDone = true
      } catch {
        guard case .notWritten(let cause) = error else { throw error }
        #expect(cause.operation == "write" && cause.code == EIO)
        #expect(try store.names().filter { $0.hasSuffix(".seg") } == segments, "\(position)")
      }
      let wasHit = files.wasHit
      files.plan()
      let count = isLoad && !isDone ? 1 : 41
      #expect(try StoreSample.contents(database).count == count, "\(position)")
      try database.close()
      let again = try store.open()
      #expect(try StoreSample.contents(again).count == count, "\(position)")
      #expect(try again.verify().isSound)
      if !wasHit {
        #expect(isDone && position > 4)
        return
      }
    }
  }
}
