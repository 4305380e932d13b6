import Testing

/// The public types of each module: what is promised to apps, and nothing that slipped out.
@Suite struct PublicSurfaceTests {
  /// Public types by module, each with what it is for.
  static let surface: [String: [String: String]] = [
    "LZ4Blocks": [:],
    "KVEngine": [
      "Database": "the handle of a store",
      "Space": "a named part of a store with keys of its own",
      "DatabaseOptions": "how a store is opened",
      "DamagePolicy": "whether an earlier state will do when the newest one is damaged",
      "EarlierState": "which earlier state was opened, why, and what is missing",
      "Durability": "when a commit counts as done",
      "WriteBatch": "what is written together or not at all",
      "KeyRange": "which keys a cursor sees",
      "Snapshot": "one moment of a store",
      "Cursor": "a position among the keys of a range",
      "Cursor.Entry": "key and value of a position, copied; a tuple is not Hashable",
      "DatabaseError": "everything that a call can throw",
      "Corruption": "what is damaged and where, inside DatabaseError",
      "IOFailure": "which call of the system failed, inside DatabaseError",
      "DatabaseStatistics": "what a handle has done and what it holds",
      "DatabaseEvent": "what the host's log should hear of",
      "VerificationReport": "what verify() found: all damage at once, which an error cannot hold",
    ],
    "KVSalvage": [
      "SalvageReport": "what salvage(storeAt:to:options:) kept and what is lost",
      "SalvageReport.File": "what one file of the damaged store was good for",
      "SalvageReport.Use": "how a file was used",
      "SalvageReport.Loss": "a stretch that could not be read",
    ],
    "TextSearch": ["TextFolding": "which forms of a text a search takes for the same"],
    "MemoCore": [
      "Memo": "the ready-made memo",
      "MemoID": "what names a memo",
      "MemoTimestamp": "when a memo was written, with the writer's zone",
      "CivilDay": "the day below which a memo stands",
      "MemoError": "everything that a call of the memo layers can throw",
      "MemoIndexValue": "a part of a key by which memos are found",
    ],
    "MemoHistory": [
      "MemoStore": "the memos of an app",
      "MemoStore.Page": "some neighbouring memos and where the next ones begin",
      "MemoCollection": "values of the app's own beside the memos",
      "MemoEntity": "what a type of the app has to have to be a memo",
      "MemoImportReport": "what became of the memos of an import",
      "MemoImportReport.Refusal": "one that was not taken",
      "MemoIdentifier": "what names an app's memos",
      "MemoOrder": "in which order a query wants memos",
      "MemoPages": "all memos of one moment as a sequence",
      "MemoPages.Element": "what AsyncSequence asks for",
      "MemoPages.Failure": "what AsyncSequence asks for",
      "MemoPages.AsyncIterator": "reads one page after the other",
      "MemoPreview": "the beginning of a memo",
      "MemoSearchHit": "a memo that a search found, and where in its text",
      "MemoSearchResults": "what a search finds as a sequence",
      "MemoSearchResults.Element": "what AsyncSequence asks for",
      "MemoSearchResults.Failure": "what AsyncSequence asks for",
      "MemoSearchResults.AsyncIterator": "looks for one memo after the other",
      "MemoSchema": "how older versions of an app's type are read",
      "MemoSchema.Upgrade": "the change from an older version",
      "MemoIndex": "by what memos are found beside id and time",
      "MemoIndex.Key": "the key of a memo in it",
      "MemoSchemaField": "name and kind of a stored field, for tests of apps",
      "MemoFieldKind": "what a stored field holds",
      "MemoFields": "the fields of a memo by name, for an upgrade",
      "MemoFieldValue": "the value of one, without the app's type",
      "MemoStoreCondition": "whether the memos are open as they were stored",
      "PagePosition": "a place between two pages that an app can keep",
      "StoreFolder": "where an app keeps a store",
      "StoreFolder.Protection": "when its files can be read",
      "HistoryDifference": "what turns one list of a history into the next",
      "HistoryMove": "one move inside HistoryDifference; a tuple is not Hashable",
      "HistoryPath": "a row below a header",
      "HistorySections": "the headers of a list and what stands below each",
      "HistorySections.Header": "one of them",
      "HistorySections.Header.ID": "what names a section in lists that follow each other",
      "HistorySection": "a header with its memos, for a SwiftUI view",
      "HistorySectionKey": "what memos below a header have in common",
      "MemoSections": "by what a list has headers",
      "HistorySectionDifference": "what turns one list with headers into the next",
      "HistorySectionDifference.Move": "one move inside it",
      "ReflectionPolicy": "how soon a live history shows what was written",
      "MemoQuery": "which memos a list shows or a read returns, and how",
      "ChangeToken": "up to where somebody has read the changes of a store",
      "RecordedChange": "what became of a memo in one commit",
      "RecordedChange.Kind": "whether it came, changed or went",
      "RecordedChanges": "a page of changes",
      "HistoryAnchor": "which end of a list stays where it is",
      "HistorySnapshot": "what a live history shows at one moment",
      "HistoryCause": "why there is a new snapshot",
      "HistoryObservation": "a way to say that nobody looks",
      "HistorySnapshots": "the snapshots of a query as a sequence",
      "HistorySnapshots.Element": "what AsyncSequence asks for",
      "HistorySnapshots.Failure": "what AsyncSequence asks for",
      "HistorySnapshots.AsyncIterator": "waits for one after the other",
      "LiveHistory": "the newest memos for a SwiftUI view",
      "MemoDeletion": "a deletion that can be undone",
      "MemoTransaction": "what perform hands to its closure",
      "MemoReader": "what read hands to its closure",
      "TrashedMemo": "a deleted memo that is kept",
    ],
    "MemoHistoryTesting": [
      "ManualClock": "time that stands still until a test moves it",
      "ManualClock.Instant": "a moment of it, which a Clock has to have",
      "TestVolume": "a volume that fails when a test says so",
      "TestVolume.Fault": "how it fails",
    ],
  ]

  private static func declared(in module: String) -> [SwiftSource.Declaration] {
    Repository.swiftFiles(below: "Sources/" + module).flatMap(\.declarations)
      .filter { $0.isPublic && $0.kind != "func" }
  }

  @Test(arguments: surface.keys.sorted())
  func theSourcesDeclareTheListedTypes(module: String) {
    let listed = Set(Self.surface[module]?.keys.map { $0 } ?? [])
    #expect(Set(Self.declared(in: module).map(\.name)) == listed)
  }

  @Test func everyLibraryIsListed() {
    let modules = Set(
      Repository.productFiles.filter { $0.path.hasPrefix("Sources/") }
        .map { String($0.path.split(separator: "/")[1]) })
    #expect(modules == Set(Self.surface.keys))
  }

  @Test func toolsPromiseNothing() {
    let found = Repository.swiftFiles(below: "Tools").flatMap(\.declarations).filter(\.isPublic)
    #expect(found.map(\.name) == [])
  }
}
