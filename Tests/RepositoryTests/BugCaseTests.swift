import Testing

/// Faults of other stores, each told as a test that carries its number.
///
/// The numbers are those of a collection of public reports (recovery, iterators, compaction, names,
/// locks, full disks, odd sizes, time, text, observers, undo, import, tools). Every one stands for
/// a kind of fault that has to be impossible here.
@Suite struct BugCaseTests {
  /// What has a test, by number.
  private static let covered: [Int: String] = [
    // Recovery and corruption
    1: "the file that names the state is full of zeros",
    2: "recovery steps over damage into the next log",
    4: "half of a batch is visible",
    5: "records of an earlier life behind the end of a log",
    7: "zeros that were written ahead are taken for damage",
    8: "a failed read is taken for the end of the log",
    10: "writes after recovery go where the next open does not look",
    11: "garbage is returned after a repair",
    13: "one bad checksum costs the whole store",
    14: "an unclean end is recorded as a clean one",
    16: "a commit is lost while the log is replaced",
    // Iterators
    17: "a change of direction shows a key from the future",
    19: "backward with a prefix finds nothing",
    20: "seeking backward from behind the last key",
    22: "a deletion under the cursor skips an entry",
    23: "a step back overwrites the value that was handed out",
    25: "an error looks like the end of the data",
    26: "seeking backward leaves the prefix",
    28: "bytes are compared as signed numbers",
    29: "a shortcut of a seek outlives a change of bounds",
    // Snapshots, compaction, space
    31: "a full compaction brings deleted data back",
    32: "a snapshot with the number zero",
    34: "a snapshot is released in the middle of a compaction",
    35: "an old version is forgotten and its files stay",
    37: "a dead reader keeps space",
    38: "tombstones that can never be dropped",
    // MANIFEST, names, syncs
    40: "old files go before the new name is safe",
    41: "the name of a new file is lost",
    43: "the state is written on after a failed write",
    44: "the newer log is safe and the older is not",
    46: "a reopened store trusts bytes that never reached the disk",
    47: "the state names an empty segment",
    // Locks and processes
    49: "a second open in the same process succeeds",
    50: "use after a fork",
    52: "an inspector races a compaction and calls it damage",
    53: "an app is killed while suspended because it holds a lock",
    55: "a process number in a lock file",
    56: "two writers that do not know of each other",
    58: "the device is locked and files cannot be read",
    // Full disks and failing devices
    59: "the error state never ends",
    61: "a store cannot be opened after the disk was full",
    62: "a file is shorter than what is said of it",
    64: "an interrupted or short write",
    65: "a sync is repeated after it failed",
    // Sizes
    67: "an empty key, no value, a huge key",
    68: "a value that is too large makes everything unreadable",
    // Time: the part that exists
    70: "the clock goes backwards",
    71: "equal times are lost at the border of a page",
    73: "one date far in the future blocks everything",
    74: "headings of days in two time zones",
    76: "a day that begins at one o'clock",
    77: "a day of 23 or 25 hours",
    // Text, observers, input: the part that exists
    79: "equal strings with different bytes",
    80: "composed and decomposed text do not match",
    82: "a zero character ends the text",
    83: "half and full width",
    88: "the first value comes twice",
    89: "a write inside a callback blocks for ever",
    91: "an observation is cancelled right after it began",
    92: "delivery after the cancellation",
    94: "changes by another way are not noticed",
    95: "a memo is deleted while it is shown",
    97: "saving and reading wait for each other",
    98: "undo restores an empty shell",
    100: "a memo imported again is swallowed by its deletion",
    101: "an undo races the timer",
    103: "a silent partial import",
    104: "a path in an import leads outside",
    106: "a decompressor believes the header",
    107: "the reader of a pipe goes away",
    109: "stored text steers the terminal",
    110: "a whole export in memory",
  ]

  /// What waits for the parts of the library that it is about.
  private static let pending: [Int: String] = [
    85: "a cut through a character is written back",
    86: "half a surrogate pair drops the record",
  ]

  private static let named: Set<Int> = {
    var numbers: Set<Int> = []
    for file in Repository.swiftFiles(below: "Tests") {
      for match in file.lines.joined().matches(of: /\.bug\(id: "B([0-9]+)"\)/) {
        if let number = Int(match.1) { numbers.insert(number) }
      }
    }
    return numbers
  }()

  @Test func everyCoveredFaultIsNamedByATest() {
    for (number, title) in Self.covered.sorted(by: { $0.key < $1.key }) {
      #expect(Self.named.contains(number), "B\(number): \(title)")
    }
  }

  @Test func noTestNamesAFaultThatIsNotListed() {
    #expect(Self.named.subtracting(Self.covered.keys).sorted() == [])
  }

  @Test func nothingIsPendingAndCovered() {
    #expect(Self.pending.keys.filter { Self.covered[$0] != nil } == [])
  }
}
