/// What a power cut makes of everything that was not flushed.
///
/// "Newest" and "last" mean those of each file. Where a variant speaks of bytes only, all changes
/// of names survive: names in front of bytes that are not there are the harder case.
package enum CrashVariant: Int, CaseIterable, Sendable, CustomStringConvertible {
  /// Flushed bytes and flushed names only.
  case strict = 1
  /// Everything, as after kill -9.
  case everything
  /// The newest unflushed write; the older ones are lost.
  case newestWriteOnly
  /// All unflushed writes but the newest.
  case allButNewestWrite
  /// A random half of the unflushed sectors of 512 bytes; the length may have grown regardless.
  case halfOfSectors
  /// The same with pages of 4 KiB.
  case halfOfPages
  /// The length has grown, the bytes behind the flushed length are zero, nothing else was written.
  case sizeWithZeros
  /// The length has grown, random bytes stand behind the flushed length.
  case sizeWithGarbage
  /// The last write ends at 1/8 to 7/8, chosen by the seed modulo 7; the older ones are complete.
  case tornWrite
  /// All bytes, but a subset of the changes of names chosen by the seed; see
  /// ``RecordingFileSystem/nameSeeds(after:)``.
  case names
  /// Each file by a variant of its own, and random changes of names.
  case mixedFiles
  /// Each write whole, torn, in sectors or lost, and random changes of names.
  case mixedWrites

  package var description: String {
    let name =
      switch self {
      case .strict: "strict"
      case .everything: "everything"
      case .newestWriteOnly: "newest write only"
      case .allButNewestWrite: "all but the newest write"
      case .halfOfSectors: "half of the sectors"
      case .halfOfPages: "half of the pages"
      case .sizeWithZeros: "size with zeros"
      case .sizeWithGarbage: "size with garbage"
      case .tornWrite: "torn write"
      case .names: "names"
      case .mixedFiles: "mixed files"
      case .mixedWrites: "mixed writes"
      }
    return "V\(rawValue) \(name)"
  }
}
