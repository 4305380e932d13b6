import Foundation
import KVEngine
import KVTestSupport
import Testing

/// What a sync that failed leaves behind.
@Suite struct FailedSyncTests {
  private let recording = RecordingFileSystem()

  /// A durable file "/a" of four 1s, the fault not yet planned.
  private func makeFile() throws -> (FaultFileSystem, any File) {
    let files = FaultFileSystem(recording)
    let file = try files.create("/a", [1, 1, 1, 1])
    try file.sync()
    try files.syncDirectory("/")
    return (files, file)
  }

  private func content(_ variant: CrashVariant) throws -> [UInt8] {
    try recording.image(after: recording.operationCount, variant: variant).bytes(of: "/a")
  }

  @Test func aSecondSyncDoesNotSaveWhatTheFirstLost() throws {
    let (files, file) = try makeFile()
    try file.write([2, 2], at: 1)
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    #expect(throws: SystemError(.sync, "/a", code: EIO)) { try file.sync() }
    try file.sync()
    #expect(try file.bytes() == [1, 2, 2, 1])
    #expect(try content(.everything) == [1, 2, 2, 1])
    #expect(try content(.strict) == [1, 1, 1, 1])
  }

  @Test func whatIsWrittenAgainIsDurableAfterTheNextSync() throws {
    let (files, file) = try makeFile()
    try file.write([2, 2, 2, 2, 2], at: 0)
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    #expect(throws: SystemError.self) { try file.sync() }
    try file.write([2, 3], at: 2)
    #expect(try content(.strict) == [1, 1, 1, 1])
    try file.sync()
    #expect(try content(.strict) == [1, 1, 2, 3])
    #expect(try content(.everything) == [2, 2, 2, 3, 2])
    #expect(try content(.newestWriteOnly) == [1, 1, 2, 3, 2])
  }

  @Test func aWriteOverAllOfItLeavesNothingDetached() throws {
    let (files, file) = try makeFile()
    try file.write([2, 2], at: 1)
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    #expect(throws: SystemError.self) { try file.sync() }
    try file.write([5, 5, 5, 5], at: 0)
    try file.sync()
    for variant in CrashVariant.allCases {
      #expect(try content(variant) == [5, 5, 5, 5], "\(variant)")
    }
  }

  @Test func writesAfterTheFailureAreNotTouchedByIt() throws {
    let (files, file) = try makeFile()
    files.plan(Fault(.error(ENOSPC), at: 1, of: [.sync]))
    #expect(throws: SystemError.self) { try file.sync() }
    try file.write([7], at: 4)
    try file.sync()
    #expect(try content(.strict) == [1, 1, 1, 1, 7])
  }

  @Test func aFalseFailureIsDurableAllTheSame() throws {
    let (files, file) = try makeFile()
    try file.write([2], at: 0)
    files.plan(Fault(.error(EIO, after: .everything), at: 1, of: [.sync]))
    #expect(throws: SystemError.self) { try file.sync() }
    #expect(try content(.strict) == [2, 1, 1, 1])
  }

  @Test func anotherFileIsNotTouched() throws {
    let (files, file) = try makeFile()
    let other = try files.create("/b", [3])
    try files.syncDirectory("/")
    try file.write([2], at: 0)
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    #expect(throws: SystemError.self) { try file.sync() }
    try other.sync()
    let image = recording.image(after: recording.operationCount, variant: .strict)
    #expect(try image.bytes(of: "/b") == [3])
  }
}
