// Help about the commands that look at files and blocks. In JSON every one of them prints a single
// object; sizes and offsets are bytes, times microseconds since 1970, keys hexadecimal behind "0x"
// and without the byte of their space.

extension HelpText {
  /// What `damage` holds in the JSON of all these commands.
  private static let damageShape =
    """
    damage: [{file, offset, structure, reason}], empty when all is well. Sizes and offsets are
    bytes, times microseconds since 1970, keys 0x and hexadecimal digits.
    """

  static let findDetails =
    """
    Follows one key the way a read does: the log, then every segment from the newest on. For each
    file it says whether its bounds or its filter exclude the key, or which entries are there: their
    kind, sequence, size of the value, and the byte where the record or the block begins.

    KEY is the id of a memo, as get takes it: first the entries of the id, then those of the memo.
    In a store without memos, or with --space, it is a key: text, or 0x and hexadecimal digits.
    The exit code is 1 when no file has an entry.

    With --json one object: found, searches: [{space, name, key, prefix, live, places: [{file,
    entries: [{key, sequence, kind, valueBytes, offset}], absence, damage}]}], damage. prefix says
    that all keys beginning with key count, as those of an id do; live is there only without it;
    absence is otherSpaces, outsideBounds, filtered, notFound or unreadable.
    \(damageShape)

    Options:
      --space NAME   the space of the key: its name, default, memos, ids, or its code

    Examples:
      kvinspect find path/to/store a7
      kvinspect find path/to/store --space drafts 0x00ff
    """

  static let segmentsDetails =
    """
    Lists the live segments, newest first as reads look at them: file, tier, size, entries and
    sequences, and for each space what is in it and from which key to which. Footer, properties and
    index of each are read and checked; verify reads the rest.

    With --json one object: generation, bytes, entries, segments: [{file, segment, bytes, tier,
    dense, lowestSequence, highestSequence, tombstonesSince, entries, deletions, spaces: [{code,
    name, entries, deletions, change, bytes, lower, upper}], damage}], damage.
    \(damageShape)

    Example:
      kvinspect segments path/to/store
    """

  static let segmentDetails =
    """
    Reads one segment file as a whole and shows its parts from the first byte to the last: header,
    blocks with their codec, sizes, entries and first key, footer; before them its properties. A
    damaged block is marked, and the others are shown all the same. The file need not be in a store;
    when the MANIFEST beside it names it, it has to be what that says.

    With --json one object: file, state (live, retired, unnamed or alone), segment, bytes,
    entries, properties: {lowestSequence, highestSequence, spaces: [{code, entries, deletions,
    change, bytes, firstKey, lastKey}], filters: [{space, prefixBytes, offset, bytes}]}, parts:
    [{kind, offset, bytes, sound, codec, storedBytes, decodedBytes, space, entries, deletions,
    firstKey, lastKey, hex}], damage. Members that a part does not have are left out.
    \(damageShape)

    Options:
      --hex   print the bytes of every part as well

    Examples:
      kvinspect segment path/to/store/000012.seg
      kvinspect segment path/to/store/000012.seg --hex
    """

  static let logDetails =
    """
    Lists the records of the log: where each is, its sequences, the spaces that it writes to, and up
    to which sequence everything was known to be synced when it was written. Says how the log ends:
    with zeros, with what a crash left of a commit that never returned, or with damage. Records in
    front of damage are listed.

    With --json one object: generation, flushedSequence, logs: [{file, bytes, usedBytes,
    provenBytes, cleanEnd, predecessor, lastSequence, entries, records: [{offset, bytes,
    firstSequence, lastSequence, durableSequence, deletions, spaces}], damage}], damage.
    \(damageShape)

    Example:
      kvinspect log path/to/store
    """

  static let manifestDetails =
    """
    Prints the state that the MANIFEST holds: store, generation, live logs and segments, names of
    spaces; and the MANIFESTs that it replaced, kept ten minutes for copies of the folder. Both of
    its copies are checked. When it cannot be read, the replaced ones are listed all the same.

    With --json one object: file, bytes, store, format, generation, publishedAt, flushedSequence,
    nextFileNumber, logs: [file], segments: [{file, segment, bytes, tier, dense, lowestSequence,
    highestSequence, tombstonesSince}], spaces: [{code, name}], earlier: [{file, whole, generation,
    publishedAt, segments, logs}], damage. whole says that all files it names are there.
    \(damageShape)

    Example:
      kvinspect manifest path/to/store
    """

  static let spaceDetails =
    """
    Prints where the bytes of the store are: entries by space and tier, log, ballast, files that
    were replaced and wait out their ten minutes, files that are only held by snapshots, and how
    much of the segments a compaction would keep. Reads no segment.

    With --json one object: generation, segments, spaces: [{code, name, entries, deletions, live,
    liveIsExact, bytes, tiers: [{tier, bytes}]}], dataBytes, liveBytes, segmentBytes, logBytes,
    manifestBytes, reserveBytes, retiredBytes, pinnedBytes, unfinishedBytes, foreignBytes,
    totalBytes, damage. live is exact for memos; where nobody counts keys it is the most there can
    be.
    \(damageShape)

    Example:
      kvinspect space path/to/store
    """

  static let compactDetails =
    """
    Merges all segments that can be merged, so that deleted and replaced entries go and reads look
    at few files; prints what the segments were before and after. Takes the lock of the store: not
    while the app is writing. A segment with a damaged block stays as it is. Replaced files stay for
    ten minutes.

    With --json one object: before and after, each {segments, bytes, entries, deletions};
    compactions; writtenBytes.

    Example:
      kvinspect compact path/to/store
    """

  static let checkpointDetails =
    """
    Makes a store of its own in the folder TARGET, which must not exist, with what STORE holds at
    this moment. Segments are shared by hard links where the volume allows, so it takes little time
    and space. STORE is not locked and not changed.

    With --json one object: checkpoint: {segments, bytes, entries, deletions}, those of the copy.

    Example:
      kvinspect checkpoint path/to/store path/to/copy
    """

  static let salvageDetails = """
    Writes a new store into the folder TARGET, which must not exist or be empty, with everything
    that can be read of STORE, and prints what became of each file and what is lost. STORE is only
    read, so it can be tried again. Where something is lost, files that had been replaced fill in:
    memos that were deleted may be back. The exit code is 1 when something is lost.

    Example:
      kvinspect salvage path/to/store path/to/rescued
    """
}
