import KVTestSupport
import Testing

@testable import KVEngine

/// Bytes of any file of a store change: reads give what was stored or an error, never anything
/// else.
@Suite struct DatabaseDamageTests {
  /// The files of a small store with two segments and a log, and what it holds.
  private struct Original {
    var files: [String: [UInt8]] = [:]
    var contents: [[UInt8]: [UInt8]] = [:]

    init() throws {
      let store = StoreSample(isTiny: true)
      let database = try store.open()
      for index in 0..<24 as Range<UInt8> {
        let value = [UInt8](repeating: index, count: 20 + Int(index))
        try database.put(value, [index % 20, 1])
        contents[[index % 20, 1]] = value
        if index == 9 || index == 17 { try database.flush() }
      }
      try database.remove([3, 1])
      contents[[3, 1]] = nil
      try database.close()
      for name in try store.names() {
        files[name] = try store.files.bytes(of: "/store/" + name)
      }
    }

    /// A store of these files.
    func store(
      _ files: [String: [UInt8]], on volume: StoreVolume = .memory
    ) throws -> StoreSample {
      let store = try StoreSample(on: volume, isTiny: true)
      try store.files.makeDirectory(store.path)
      for (name, bytes) in files { try store.files.create(store[name], bytes) }
      return store
    }

    /// The name of the only file that ends so, or of the n-th.
    func name(_ ending: String, _ index: Int = 0) throws -> String {
      let names = files.keys.filter { $0.hasSuffix(ending) }.sorted()
      return try #require(names.count > index ? names[index] : nil)
    }
  }

  /// What reading everything comes to, by keys and by cursors in both directions.
  private struct Reading {
    var isRefused = false
    var wrongKeys: [[UInt8]] = []
    var failedKeys: [[UInt8]] = []
    /// Whether each walk gave right entries up to its end or its error.
    var areWalksRight = true
  }

  private func read(_ store: StoreSample, _ original: Original) -> Reading {
    var reading = Reading()
    do throws(DatabaseError) {
      let database = try store.open()
      for number in 0..<21 as Range<UInt8> {
        let key = [number, 1]
        do throws(DatabaseError) {
          let value = try database.value(forKey: key)
          if value != original.contents[key] { reading.wrongKeys.append(key) }
        } catch {
          #expect(isDamaged(error), "\(error)")
          reading.failedKeys.append(key)
        }
      }
      let sorted = original.contents.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        .map { Cursor.Entry(key: $0.key, value: $0.value) }
      for isForward in [true, false] {
        var cursor = try database.cursor()
        var found: [Cursor.Entry] = []
        var isWhole = true
        do throws(DatabaseError) {
          while let entry = try (isForward ? cursor.next() : cursor.previous()) {
            found.append(entry)
          }
        } catch {
          #expect(isDamaged(error), "\(error)")
          isWhole = false
        }
        let expected = isForward ? sorted : sorted.reversed()
        let isRight = isWhole ? found == expected : expected.starts(with: found)
        if !isRight { reading.areWalksRight = false }
      }
    } catch {
      #expect(isDamaged(error), "\(error)")
      reading.isRefused = true
    }
    return reading
  }

  @Test(arguments: StoreVolume.allCases)
  func theOriginalReadsAsItShould(volume: StoreVolume) throws {
    let original = try Original()
    #expect(original.files.count == 8)
    let reading = read(try original.store(original.files, on: volume), original)
    #expect(!reading.isRefused && reading.areWalksRight)
    #expect(reading.wrongKeys == [] && reading.failedKeys == [])
  }

  @Test(.bug(id: "B11"), .bug(id: "B13"), arguments: [0, 1])
  func aFlippedBitInASegmentHurtsNothingElse(index: Int) throws {
    let original = try Original()
    let name = try original.name(".seg", index)
    var random = SeededGenerator(seed: 13)
    var leastFailures = Int.max
    for offset in 0..<(original.files[name]?.count ?? 0) {
      var files = original.files
      files[name]?[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let reading = read(try original.store(files), original)
      #expect(!reading.isRefused && reading.wrongKeys == [] && reading.areWalksRight, "\(offset)")
      if !reading.failedKeys.isEmpty {
        leastFailures = min(leastFailures, reading.failedKeys.count)
      }
    }
    // A damaged block costs its own keys only.
    #expect(leastFailures <= 3)
  }

  @Test func aFlippedBitInTheLogLeavesARunOfCommitsOrIsDamage() throws {
    let original = try Original()
    let name = try original.name(".log", 2)
    var random = SeededGenerator(seed: 14)
    var refusals = 0
    let count = original.files[name]?.count ?? 0
    for offset in 0..<count {
      var files = original.files
      files[name]?[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let store = try original.store(files)
      do throws(DatabaseError) {
        let database = try store.open()
        // The last commit may be missing, as after a power cut; nothing else.
        let isDeleted = try database.value(forKey: [3, 1]) == nil
        var contents = original.contents
        if !isDeleted { contents[[3, 1]] = [UInt8](repeating: 23, count: 43) }
        #expect(try StoreSample.contents(database) == contents, "byte \(offset)")
      } catch {
        #expect(isDamaged(error), "byte \(offset)")
        refusals += 1
      }
    }
    #expect(refusals > 100)
  }

  @Test(arguments: StoreVolume.allCases)
  func aVerificationNamesAllThatIsDamaged(volume: StoreVolume) throws {
    let original = try Original()
    let sound = try original.store(original.files, on: volume).open().verify()
    #expect(sound.isSound && sound.segmentCount == 2 && sound.entryCount == 25)
    var files = original.files
    let names = [try original.name(".seg", 0), try original.name(".seg", 1)]
    for name in names { files[name]?[FileHeader.byteCount + FrameHead.byteCount] ^= 1 }
    files["MANIFEST"]?[FileHeader.byteCount] ^= 1
    let report = try original.store(files, on: volume).open().verify()
    #expect(Set(report.damage.map(\.fileName)) == Set(names + ["MANIFEST"]))
  }

  @Test func aFlippedBitInTheManifestChangesNothing() throws {
    let original = try Original()
    var random = SeededGenerator(seed: 15)
    for offset in stride(from: 0, to: original.files["MANIFEST"]?.count ?? 0, by: 7) {
      var files = original.files
      files["MANIFEST"]?[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let reading = read(try original.store(files), original)
      #expect(!reading.isRefused && reading.failedKeys == [] && reading.wrongKeys == [])
    }
  }

  @Test(.bug(id: "B62")) func filesThatWereCutNeverTrap() throws {
    let original = try Original()
    for (name, bytes) in original.files where name != "LOCK" {
      for count in stride(from: 0, to: bytes.count, by: 5) {
        var files = original.files
        files[name] = Array(bytes.prefix(count))
        let reading = read(try original.store(files), original)
        if name.hasSuffix(".seg") {
          #expect(!reading.isRefused, "\(name) \(count)")
          #expect(reading.wrongKeys == [] && reading.areWalksRight, "\(name) \(count)")
        }
      }
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func filesUnderEachOthersNamesAreDamage(volume: StoreVolume) throws {
    let original = try Original()
    let (first, second) = (try original.name(".seg", 0), try original.name(".seg", 1))
    var files = original.files
    (files[first], files[second]) = (files[second], files[first])
    let swapped = read(try original.store(files, on: volume), original)
    #expect(swapped.wrongKeys == [] && swapped.areWalksRight && swapped.failedKeys.count > 10)
    // The same names and numbers in another store.
    let other = try Original()
    files = original.files
    files[first] = other.files[first]
    let foreign = read(try original.store(files, on: volume), original)
    #expect(foreign.wrongKeys == [] && foreign.areWalksRight && !foreign.failedKeys.isEmpty)
    files = original.files
    let log = try original.name(".log", 2)
    files[log] = other.files[log]
    #expect(read(try original.store(files, on: volume), original).isRefused)
    files = original.files
    files["MANIFEST"] = other.files["MANIFEST"]
    #expect(read(try original.store(files, on: volume), original).isRefused)
  }
}
