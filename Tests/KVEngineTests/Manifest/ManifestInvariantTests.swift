import KVTestSupport
import Testing

@testable import KVEngine

/// States that contradict themselves, with checksums that hold.
@Suite struct ManifestInvariantTests {
  /// What makes a sound state contradict itself.
  enum Break: CaseIterable {
    case sameSegmentNumber, numberOfLogAndSegment, numberNotBelowNext, nextNumberZero
    case sequencesReversed, sequenceAboveFlushed, flushedAboveMaximum
    case noLog, noFile, logsDescend, logTwice
    case spacesDescend, spaceTwice, lowerOfAnotherSpace, lowerIsEmpty, boundsReversed
    case moreTombstonesThanEntries, largeChange, largeNegativeChange
    case sameSpaceCode, sameSpaceName, reservedSpaceCode, lastSpaceCode
    case hugeNextNumber, hugeGeneration, generationZero, earlyTime, lateTime

    func apply(to manifest: inout Manifest) {
      let segment = manifest.segments[0]
      let space = segment.spaces[0]
      switch self {
      case .sameSegmentNumber: manifest.segments.append(segment)
      case .numberOfLogAndSegment: manifest.logs = [segment.number]
      case .numberNotBelowNext: manifest.nextFileNumber = manifest.logs[0]
      case .nextNumberZero: manifest.nextFileNumber = 0
      case .sequencesReversed: manifest.replace(segment.with(lowest: 9, highest: 8))
      case .sequenceAboveFlushed: manifest.flushedSequence = segment.highestSequence - 1
      case .flushedAboveMaximum: manifest.flushedSequence = Limits.Sequence.maximum + 1
      case .noLog: manifest.logs = []
      case .noFile: (manifest.logs, manifest.segments) = ([], [])
      case .logsDescend: manifest.logs = [8, 7]
      case .logTwice: manifest.logs = [7, 7]
      case .spacesDescend: manifest.replace(segment.with(spaces: [space, space.with(code: 0)]))
      case .spaceTwice: manifest.replace(segment.with(spaces: [space, space]))
      case .lowerOfAnotherSpace:
        manifest.replace(segment.with(spaces: [space.with(lower: [space.code - 1, 9])]))
      case .lowerIsEmpty: manifest.replace(segment.with(spaces: [space.with(lower: [])]))
      case .boundsReversed:
        manifest.replace(segment.with(spaces: [space.with(upper: [space.code])]))
      case .moreTombstonesThanEntries:
        manifest.replace(segment.with(spaces: [space.with(tombstones: 11)]))
      case .largeChange: manifest.replace(segment.with(spaces: [space.with(change: 11)]))
      case .largeNegativeChange:
        manifest.replace(segment.with(spaces: [space.with(change: .min)]))
      case .sameSpaceCode: manifest.spaces.append(NamedSpace(code: 64, name: [2]))
      case .sameSpaceName: manifest.spaces.append(NamedSpace(code: 65, name: [1]))
      case .reservedSpaceCode: manifest.spaces = [NamedSpace(code: 63, name: [1])]
      case .lastSpaceCode: manifest.spaces = [NamedSpace(code: 255, name: [1])]
      case .hugeNextNumber: manifest.nextFileNumber = .max
      case .hugeGeneration: manifest.generation = .max
      case .generationZero: manifest.generation = 0
      case .earlyTime: manifest.publishedAt = .min
      case .lateTime: manifest.publishedAt = .max
      }
    }
  }

  private var sound: Manifest {
    var manifest = ManifestSample.empty()
    let space = SpaceBounds(
      code: 64, lower: [64, 1], upper: [64, 9], entryCount: 10, tombstoneCount: 2, change: -3,
      byteCount: 100)
    manifest.segments = [
      SegmentDescriptor(
        number: 2, identity: StoreIdentity(high: 1, low: 2), byteCount: 1000, footerChecksum: 3,
        tier: 0, lowestSequence: 1, highestSequence: 10, spaces: [space])
    ]
    manifest.flushedSequence = 10
    manifest.logs = [7]
    manifest.nextFileNumber = 9
    manifest.spaces = [NamedSpace(code: 64, name: [1])]
    return manifest
  }

  @Test func theSoundStateIsAccepted() throws {
    #expect(try ManifestSample.decode(sound.encode()) == sound)
  }

  @Test(arguments: Break.allCases) func aStateThatContradictsItselfIsDamage(kind: Break) {
    var manifest = sound
    kind.apply(to: &manifest)
    #expect(manifest != sound)
    let error = #expect(throws: DatabaseError.self) {
      try ManifestSample.decode(manifest.encode())
    }
    #expect(isDamaged(error))
  }

  @Test(arguments: 0..<8 as Range<UInt64>) func changedBodiesWithRightChecksumsNeverTrap(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let body = ManifestSample.body(of: ManifestSample.random(seed: seed))
    for _ in 0..<300 {
      var changed = body
      for _ in 0...Int.random(in: 0...3, using: &random) where !changed.isEmpty {
        let offset = Int.random(in: 0..<changed.count, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: changed[offset] = UInt8.random(in: 0...255, using: &random)
        case 1: changed.remove(at: offset)
        case 2: changed.insert(0xFF, at: offset)
        default: changed.removeLast(min(changed.count - 1, offset))
        }
      }
      let result = Result { () throws(DatabaseError) in
        try ManifestSample.decode(ManifestSample.file(body: changed))
      }
      switch result {
      case .success(let manifest):
        // What is accepted can be worked with.
        #expect(manifest.brokenInvariant == nil)
        #expect(try ManifestSample.decode(manifest.encode()) == manifest)
        let version = OpenSegments(
          files: MemoryFileSystem(), folder: "/store", options: DatabaseOptions()
        ).version(of: manifest.segments)
        _ = version.liveCounts(tables: [], images: [])
      case .failure(let error): #expect(isDamaged(error))
      }
    }
  }
}

extension Manifest {
  fileprivate mutating func replace(_ segment: SegmentDescriptor) { segments = [segment] }
}

extension SegmentDescriptor {
  fileprivate func with(
    lowest: SequenceNumber? = nil, highest: SequenceNumber? = nil, spaces: [SpaceBounds]? = nil
  ) -> SegmentDescriptor {
    SegmentDescriptor(
      number: number, identity: identity, byteCount: byteCount, footerChecksum: footerChecksum,
      tier: tier, lowestSequence: lowest ?? lowestSequence,
      highestSequence: highest ?? highestSequence, spaces: spaces ?? self.spaces)
  }
}

extension SpaceBounds {
  fileprivate func with(
    code: UInt8? = nil, lower: [UInt8]? = nil, upper: [UInt8]? = nil, tombstones: Int? = nil,
    change: Int? = nil
  ) -> SpaceBounds {
    SpaceBounds(
      code: code ?? self.code, lower: lower ?? code.map { [$0] } ?? self.lower,
      upper: upper ?? self.upper, entryCount: entryCount,
      tombstoneCount: tombstones ?? tombstoneCount, change: change ?? self.change,
      byteCount: byteCount)
  }
}
