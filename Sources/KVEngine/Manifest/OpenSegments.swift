// A view holds the segments it reads, each as a handle that opens its file when it is first needed.
// The file of a segment that no MANIFEST names any more stays as long as a handle of it lives, so a
// view can still open what it has not opened yet.

import Synchronization

/// A live or held segment.
package final class SegmentHandle: Sendable {
  package let descriptor: SegmentDescriptor
  private let origin: SegmentOrigin
  private struct Opened {
    var reader: SegmentReader?
    /// Whether the reader stays as long as the handle: others may remove the file.
    var isPinned = false
  }

  private let opened = Lock(Opened())
  /// When the reader was last asked for, by the count of all such calls.
  fileprivate let lastUse = Atomic<UInt64>(0)

  fileprivate init(_ descriptor: SegmentDescriptor, origin: SegmentOrigin) {
    self.descriptor = descriptor
    self.origin = origin
  }

  deinit {
    origin.descriptors.forget(self)
  }

  /// Closes the file unless a cursor is reading it; the next read opens it again.
  fileprivate func close() {
    opened.withLock { if !$0.isPinned { $0.reader = nil } }
  }

  /// Opens the file for as long as the handle lives, on top of the ceiling.
  ///
  /// - Throws: As ``reader()``.
  package func pin() throws(DatabaseError) {
    if opened.withLock({ $0.isPinned }) { return }
    let reader = try reader()
    opened.withLock { $0 = Opened(reader: $0.reader ?? reader, isPinned: true) }
    origin.descriptors.forget(self)
  }

  /// Lets the file be closed again when others are needed more.
  fileprivate func unpin() {
    let isOpen = opened.withLock { opened in
      defer { opened.isPinned = false }
      return opened.isPinned && opened.reader != nil
    }
    if isOpen { origin.descriptors.enter(self) }
  }

  /// The segment's reader, opened when it is first needed.
  ///
  /// - Throws: ``DatabaseError/damaged(_:)`` when the file is missing, ``DatabaseError/io(_:)`` or
  ///   ``DatabaseError/notAvailableYet(_:)`` when it cannot be opened.
  package func reader() throws(DatabaseError) -> SegmentReader {
    lastUse.store(origin.descriptors.nextUse(), ordering: .relaxed)
    if let reader = opened.withLock({ $0.reader }) { return reader }
    origin.descriptors.makeRoom(for: self)
    let made = SegmentReader(
      file: try openFile(), fileName: descriptor.fileName, reference: descriptor.reference,
      cache: origin.cache)
    // Two threads may have opened it; the second one's reader goes again.
    defer { origin.descriptors.enter(self) }
    return opened.withLock { opened in
      if let first = opened.reader { return first }
      opened.reader = made
      return made
    }
  }

  /// Opens the segment's file.
  ///
  /// - Throws: As ``reader()``.
  package func openFile() throws(DatabaseError) -> any File {
    do throws(SystemError) {
      let path = origin.folder + "/" + descriptor.fileName
      do {
        return try origin.files.open(path, .read)
      } catch {
        // Out of descriptors: give back what is not being read, and try once more (rule F25).
        guard error.isDescriptorLimit, origin.descriptors.closeAll() else { throw error }
        return try origin.files.open(path, .read)
      }
    } catch {
      guard error.isNotFound else { throw error.readFailure }
      throw .damaged(Corruption(missingSegment: descriptor.fileName))
    }
  }
}

extension Corruption {
  private static let missingReason = "is missing though the MANIFEST names it"

  init(missingSegment fileName: String) {
    self.init(fileName: fileName, offset: 0, structure: "segment", reason: Self.missingReason)
  }

  /// Whether a segment's file was not there: no damage if the MANIFEST names it no more.
  package var isMissingSegment: Bool { structure == "segment" && reason == Self.missingReason }
}

/// Where segments come from.
private struct SegmentOrigin: Sendable {
  let files: any FileSystem
  let folder: String
  let cache: BlockCache
  let descriptors: DescriptorCeiling
}

/// Keeps the number of open segments below a ceiling: the one that was used longest ago is closed.
///
/// What a cursor is reading stays open until the cursor lets go; that comes on top.
private final class DescriptorCeiling: Sendable {
  private struct Opened {
    let identity: ObjectIdentifier
    weak var handle: SegmentHandle?

    init(_ handle: SegmentHandle) {
      identity = ObjectIdentifier(handle)
      self.handle = handle
    }
  }

  private let maximumCount: Int
  // A list, as there are few: making the first dictionary of a kind takes a process 0.1 ms.
  private let opened = Lock<[Opened]>([])
  private let useCount = Atomic<UInt64>(0)

  init(maximumCount: Int) {
    self.maximumCount = max(1, maximumCount)
  }

  func nextUse() -> UInt64 {
    useCount.add(1, ordering: .relaxed).newValue
  }

  /// Enters a handle that is about to open its file, closing others where there are too many.
  func makeRoom(for handle: SegmentHandle) {
    enter(handle)
    // A handle that lives only here ends with the call, when the lock is not held: it takes the
    // lock.
    let handles = opened.withLock { $0.compactMap(\.handle) }
    let excess = handles.count - maximumCount
    guard excess > 0 else { return }
    let oldest = handles.filter { $0 !== handle }.sorted {
      $0.lastUse.load(ordering: .relaxed) < $1.lastUse.load(ordering: .relaxed)
    }
    for handle in oldest.prefix(excess) {
      forget(handle)
      handle.close()
    }
  }

  /// Enters a handle whose file was opened: it may have been closed meanwhile, to make room.
  func enter(_ handle: SegmentHandle) {
    opened.withLock { opened in
      let identity = ObjectIdentifier(handle)
      if !opened.contains(where: { $0.identity == identity }) { opened.append(Opened(handle)) }
    }
  }

  func forget(_ handle: SegmentHandle) {
    let identity = ObjectIdentifier(handle)
    opened.withLock { $0.removeAll { $0.identity == identity } }
  }

  /// Closes what no cursor is reading.
  ///
  /// - Returns: Whether there was anything.
  func closeAll() -> Bool {
    let handles = opened.withLock { opened in
      defer { opened = [] }
      return opened.compactMap(\.handle)
    }
    for handle in handles { handle.close() }
    return !handles.isEmpty
  }
}

/// The segments that some view holds, one handle for each.
package final class OpenSegments: Sendable {
  private struct Held {
    let number: UInt64
    weak var handle: SegmentHandle?
  }

  private let origin: SegmentOrigin
  // A list for the reason of `opened`, ascending by number.
  private let held = Lock<[Held]>([])
  /// Half of the descriptors that a process has by default on systems with the fewest.
  private static let pinnedCount = 128

  package init(files: any FileSystem, folder: String, options: DatabaseOptions) {
    origin = SegmentOrigin(
      files: files, folder: folder, cache: BlockCache(byteCount: options.cacheByteCount),
      descriptors: DescriptorCeiling(maximumCount: options.descriptorCount))
  }

  /// A version of these segments; those that are held already keep their handles.
  package func version(of descriptors: [SegmentDescriptor]) -> Version {
    held.withLock { held in
      held.removeAll { $0.handle == nil }
      var made: [Held] = []
      let handles = descriptors.map { descriptor in
        if let handle = Self.handle(descriptor.number, in: held), handle.descriptor == descriptor {
          return handle
        }
        let handle = SegmentHandle(descriptor, origin: origin)
        made.append(Held(number: descriptor.number, handle: handle))
        return handle
      }
      if !made.isEmpty {
        // Of two with one number, which only a store that was made anew has, the new one is found.
        held = (made + held).sorted { $0.number < $1.number }
      }
      return Version(handles)
    }
  }

  /// Opens the files of what is held, before others may remove them: the newest first, and not so
  /// many that the process may run out of descriptors.
  ///
  /// The others stay for ten minutes after they were replaced; reads that come later begin again
  /// with the state in force.
  ///
  /// One that cannot be opened is opened when it is read, which says why it cannot.
  package func pinAll() {
    let handles = held.withLock { $0.compactMap(\.handle) }
    let newest = handles.sorted { $0.descriptor.highestSequence > $1.descriptor.highestSequence }
    for handle in newest.prefix(Self.pinnedCount) { try? handle.pin() }
  }

  /// Leaves files to the ceiling again: this process has the lock, so nobody removes them.
  package func unpinAll() {
    let handles = held.withLock { $0.compactMap(\.handle) }
    for handle in handles { handle.unpin() }
  }

  /// Gives back the memory of cached blocks and indexes, and the descriptors of segments.
  package func releaseMemory() {
    origin.cache.removeAll()
    _ = origin.descriptors.closeAll()
  }

  /// Bytes of held segments other than the live ones.
  package func heldByteCount(without live: Set<UInt64>) -> Int {
    held.withLock { held in
      held.reduce(0) { sum, held in
        guard let descriptor = held.handle?.descriptor, !live.contains(descriptor.number) else {
          return sum
        }
        return sum + descriptor.byteCount
      }
    }
  }

  /// Whether some view of this process may still read a segment.
  package func isHeld(_ number: UInt64) -> Bool {
    held.withLock { Self.handle(number, in: $0) != nil }
  }

  /// The first handle of a number.
  private static func handle(_ number: UInt64, in held: [Held]) -> SegmentHandle? {
    var (low, high) = (0, held.count)
    while low < high {
      let middle = (low + high) / 2
      if held[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < held.count && held[low].number == number ? held[low].handle : nil
  }
}
