#if PLANTED_FAULTS
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif
#endif

/// Deliberate mistakes, to see whether the tests notice (see the Testing article).
///
/// They are in builds with `PLANTED_FAULTS` only, and there only the one that `MEMOKV_FAULT` names.
package enum PlantedFault: String, CaseIterable, Sendable {
  /// The last key before the end of a range is searched one key too early.
  case backwardSeekOffByOne
  /// A turn backward shows the same key again.
  case backwardTurnOffByOne
  /// A tombstone goes though a segment outside the merge may hold what it hides.
  case earlyTombstone
  /// A tombstone goes though a condition may ask for it.
  case unheldTombstone
  /// A sequence goes though a snapshot may be compared with it.
  case lostSequence
  /// The names of new files are not flushed before a MANIFEST that needs them.
  case unsyncedNames
  /// The name of a new MANIFEST is not flushed.
  case unsyncedManifest
  /// A commit is acknowledged though its record was not flushed.
  case earlyAcknowledgement
  /// What no record proves to be on the medium is not written again.
  case unprovenLogEnd
  /// A log is cut at its first bad record, whatever is behind it.
  case cutLog
  /// What a read has learnt about a gap outlives a put into it.
  case staleGap
  /// A reader without the lock does not see a new MANIFEST.
  case missedManifest
  /// A filter lacks some of its keys.
  case sparseFilter
  /// The checksum of a block is not compared.
  case unverifiedBlock
  /// The checksum of a record is not compared.
  case unverifiedRecord
  /// A block is not bound to its place.
  case misplacedBlock
  /// The longest key is refused.
  case shortKey
  /// A count from disk is not compared with what there is.
  case uncheckedCount
  /// A search in the memtable stops at a newer version of the key.
  case hastySearch

  #if PLANTED_FAULTS
    fileprivate static let active = unsafe getenv("MEMOKV_FAULT").flatMap {
      PlantedFault(rawValue: unsafe String(cString: $0))
    }
  #endif
}

/// Whether a mistake is to be made; without `PLANTED_FAULTS` never, and no code is left of it.
@inline(__always)
package func isPlanted(_ fault: PlantedFault) -> Bool {
  #if PLANTED_FAULTS
    PlantedFault.active == fault
  #else
    false
  #endif
}
