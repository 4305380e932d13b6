internal import KVEngine
internal import MemoCore
public import MemoHistory

/// A volume in memory that holds one store, fails when a test says so, and outlives the app.
///
/// ```swift
/// let volume = TestVolume()
/// let store = try volume.open(Note.self)
/// volume.fault = .diskFull
/// await #expect(throws: MemoError.self) { try await store.insert(Note(text: "milk")) }
/// let afterCrash = try volume.relaunch(Note.self)
/// ```
public final class TestVolume: Sendable {
  /// Something that goes wrong until it is taken back.
  public enum Fault: Sendable, Hashable, CaseIterable {
    /// Nothing more can be written.
    case diskFull
    /// No file can be read, as before the first unlock of a device.
    case locked
    /// Nothing can be written, as on a volume for reading only.
    case readOnly
    /// What is written does not reach the medium, and the system says so.
    case failingSync
  }

  private let base = MemoryFileSystem()
  private let currentFault = SharedLock<Fault?>(nil)
  /// The number of the app's process.
  private let process = Lock<Int32>(1)
  private let folder = "/store"

  /// Makes an empty volume.
  public init() {}

  /// What goes wrong; `nil` for nothing.
  public var fault: Fault? {
    get { currentFault.withLock { $0 } }
    set { currentFault.withLock { $0 = newValue } }
  }

  /// Opens the store as the app does, once; see ``relaunch(_:clock:reflection:trash:)`` for later.
  ///
  /// - Parameters:
  ///   - type: What a memo is.
  ///   - clock: Moves the time of live histories and deletions. Default: the system's.
  ///   - reflection: How soon live histories show what was written.
  ///   - trash: For how long deleted memos stay in the trash.
  /// - Returns: The store.
  /// - Throws: What opening a store throws; with ``Fault/locked`` it opens, and reads throw
  ///   `notAvailableYet` until `resume()`.
  public func open<Entity: MemoEntity>(
    _ type: Entity.Type, clock: ManualClock? = nil,
    reflection: ReflectionPolicy = ReflectionPolicy(), trash: Duration = .zero
  ) throws(MemoError) -> MemoStore<Entity> {
    try open(process.withLock { $0 }, clock, reflection, trash)
  }

  /// Opens the store as another process does, an extension of the app for example.
  ///
  /// - Parameters:
  ///   - type: What a memo is.
  ///   - number: Which one, from 2 on.
  /// - Returns: The store.
  /// - Throws: What opening a store throws.
  public func openElsewhere<Entity: MemoEntity>(
    _ type: Entity.Type, process number: Int = 2
  ) throws(MemoError) -> MemoStore<Entity> {
    // Far from the numbers of relaunches.
    try open(1_000_000 + Int32(clamping: number), nil, ReflectionPolicy(), .zero)
  }

  /// Kills the app and opens the store again: what was not acknowledged by then may be lost, and
  /// the stores of the app before must not be used any more.
  ///
  /// - Parameters:
  ///   - type: What a memo is.
  ///   - clock: Moves the time of live histories and deletions. Default: the system's.
  ///   - reflection: How soon live histories show what was written.
  ///   - trash: For how long deleted memos stay in the trash.
  /// - Returns: The store of the new process.
  /// - Throws: What opening a store throws.
  public func relaunch<Entity: MemoEntity>(
    _ type: Entity.Type, clock: ManualClock? = nil,
    reflection: ReflectionPolicy = ReflectionPolicy(), trash: Duration = .zero
  ) throws(MemoError) -> MemoStore<Entity> {
    let number = process.withLock { number in
      base.process(number).endProcess()
      number += 1
      return number
    }
    return try open(number, clock, reflection, trash)
  }

  /// Turns some bytes of each segment around, as a failing medium does, in its first block.
  ///
  /// Only memos that have left the log are in segments: see `MemoStore.purge()`.
  ///
  /// - Returns: How many segments are damaged now.
  /// - Throws: `MemoError.database` if there is no store.
  @discardableResult
  public func damage() throws(MemoError) -> Int {
    do throws(SystemError) {
      var count = 0
      for name in try base.list(folder) where name.hasSuffix(".seg") {
        let file = try base.open(folder + "/" + name, .update)
        // Behind the file's header and the head of the frame.
        try Self.turnAround(file, at: 88)
        count += 1
      }
      return count
    } catch {
      throw .database(error.readFailure)
    }
  }

  /// Turns eight bytes around.
  private static func turnAround(_ file: any File, at offset: Int) throws(SystemError) {
    let buffer = try file.readBytes(at: offset, count: 8)
    let turned: [UInt8] = (0..<buffer.bytes.byteCount).map { ~buffer.bytes.byte(at: $0) }
    do throws(WriteFailure) {
      try file.writeBytes(turned.rawBytes, at: offset)
    } catch {
      throw error.cause
    }
  }

  private func open<Entity: MemoEntity>(
    _ process: Int32, _ clock: ManualClock?, _ reflection: ReflectionPolicy, _ trash: Duration
  ) throws(MemoError) -> MemoStore<Entity> {
    let files = FailingFileSystem(base.process(process), currentFault)
    return try MemoStore(
      deadlines: clock, reflection: reflection, trash: trash
    ) { [folder] () throws(MemoError) in try MemoTimeline(at: folder, in: files) }
  }
}
