import Testing

@testable import KVEngine

/// The names of a store's files.
@Suite struct FileNameTests {
  private static let numbers: [UInt64] = [
    0, 1, 9, 10, 99_999, 100_000, 999_999, 1_000_000, 12_345_678, .max - 1, .max,
  ]

  private static var all: [FileName] {
    let plain =
      [.lock, .manifest, .reserve]
      + numbers.flatMap { [FileName.log($0), .segment($0), .oldManifest($0)] }
    return plain + plain.map { .temporary($0) }
  }

  @Test(.bug(id: "B10")) func everyNameThatIsMadeIsFound() {
    for name in Self.all {
      #expect(FileName(name.text) == name, "\(name.text)")
    }
    #expect(Set(Self.all.map(\.text)).count == Self.all.count)
  }

  @Test func namesAreWrittenAsTheFormatSays() {
    #expect(FileName.log(7).text == "000007.log")
    #expect(FileName.segment(1_234_567).text == "1234567.seg")
    #expect(FileName.oldManifest(12).text == "MANIFEST-000012")
    #expect(FileName.temporary(.manifest).text == "MANIFEST.tmp")
  }

  @Test func namesOfFilesSortByNumber() {
    let texts = (1...2000).map { FileName.log(UInt64($0)).text }
    #expect(texts == texts.sorted())
  }

  @Test(arguments: [
    "", ".", "..", "lock", "LOCK ", "LOCK.tmp.tmp", "MANIFEST-", "MANIFEST-12", "MANIFEST-00012x",
    "MANIFEST-0000012", "00007.log", "0000007.log", "0123456.log", "000007.LOG", "000007.logs",
    "000007", ".log", ".seg", ".tmp", "-00007.log", "+00007.log", "000 07.log", "00007a.seg",
    "000007.log.tmp.tmp", "18446744073709551616.log", "99999999999999999999999999.seg",
    "\u{FF10}\u{FF10}\u{FF10}\u{FF10}\u{FF10}\u{FF17}.log", "000007.log\u{0}", "a/000007.log",
    "RESERVE2", "\u{1E}LOCK", "000007\u{301}.log", "LOCK\u{301}",
  ])
  func aNameThatIsNotOursMeansNothing(text: String) {
    #expect(FileName(text) == nil)
  }

  @Test func arbitraryNamesAreParsedOnlyWhenTheyAreWrittenThatWay() {
    let pieces = ["0", "00", "7", "000007", "MANIFEST", "-", ".", "log", "seg", "tmp", "LOCK", "x"]
    for first in pieces {
      for second in pieces {
        for third in pieces {
          for fourth in pieces {
            let text = first + second + third + fourth
            guard let name = FileName(text) else { continue }
            #expect(name.text == text)
          }
        }
      }
    }
  }
}
