/// What `kvinspect help` prints.
package enum HelpText {
  /// The help about a command, or the overview, with a line feed at its end.
  package static func text(about name: CommandName?) -> String {
    guard let name else { return overview }
    return """
      Usage: \(name.synopsis)

      \(details(of: name))
      \(takesEarlierState(name) ? earlierStateDetails : "")
      """
  }

  private static func takesEarlierState(_ name: CommandName) -> Bool {
    name.options.contains { $0.name == CommandName.Option.earlierState.name }
  }

  private static let earlierStateDetails =
    """

    Options:
      --earlier-state   when the newest state is damaged, or a copy of the folder is not complete,
                        use the newest state that is complete; standard error says which, and the
                        exit code is 1

    """

  private static var overview: String {
    let width = CommandName.allCases.map { words(of: $0).utf8.count }.max() ?? 0
    let commands = CommandName.allCases.map { name in
      let words = words(of: name)
      let gap = String(repeating: " ", count: width - words.utf8.count + 2)
      return "  " + words + gap + summary(of: name)
    }
    return """
      kvinspect looks into a MemoKV store: the folder in which an app keeps its memos.

      Usage: kvinspect COMMAND STORE ...

      Commands (STORE is the path of the folder):
      \(commands.joined(separator: "\n"))

      Options:
        --json            print JSON for programs instead of text for people
        -h, --help        print help; with a command, help about it
        --version         print the version
        --                end of options: what follows may begin with a hyphen

      Only import and compact write to the store; checkpoint and salvage make another one. All
      other commands take no lock and change nothing, so they may be used while the app is running.

      Exit codes: 0 fine; 1 damage found, a line refused or nothing with the id, key or text;
      2 wrong usage; 3 no store there, one in use or of a newer program, or the disk or the system
      failed.

      Start with:
        kvinspect summary path/to/store
        kvinspect latest path/to/store 20
        kvinspect help import

      """
  }

  /// The command with its operands.
  private static func words(of name: CommandName) -> String {
    ([name.rawValue] + name.operands.map { $0.isOptional ? "[\($0.name)]" : $0.name })
      .joined(separator: " ")
  }

  private static func summary(of name: CommandName) -> String {
    switch name {
    case .importMemos: "take memos from a file of JSON lines"
    case .latest: "print the newest memos, newest first"
    case .get: "print one memo"
    case .scan: "print every memo, newest first"
    case .search: "print the memos whose texts hold something"
    case .summary: "print what the store holds and how large it is"
    case .verify: "read everything and check it"
    case .find: "follow a memo's id or a key through log and segments"
    case .segments: "list the segments and what is in them"
    case .segment: "take one segment file apart"
    case .log: "list the records of the log"
    case .manifest: "print the state that the MANIFEST holds"
    case .space: "print where the bytes are"
    case .compact: "merge what can be merged; writes"
    case .checkpoint: "make a copy of the store in a new folder"
    case .salvage: "rebuild a damaged store in another folder"
    }
  }

  private static let importDetails =
    """
    Takes memos from a file with one JSON object a line; - reads standard input. The store is
    created with its first memo when there is none.

      {"id":"a7","createdAt":"2024-05-01T12:00:00+09:00","body":"milk"}

      id         a text or a whole number; of two memos with one id the later stays
      createdAt  when it was written, ISO 8601 with a zone
      body       the text
      changedAt  when it was last changed, like createdAt; may be left out
      payload    with fieldNames, the fields of an app's own type as --json writes them; a memo
                 that comes without keeps what is stored

    Other fields are ignored. A line that is no memo is refused and counted, with its number and
    the reason on standard error; the others are taken. Files ending in .gz are not unpacked:
    use zcat.

    With --json, standard output gets a line for each refused line, one for each commit (the memos
    and lines up to there are safe), and at the end the counts.

    Options:
      --rejected FILE   write refused lines to FILE as they were read, to mend and import later;
                        FILE must not exist

    Example:
      zcat memos.jsonl.gz | kvinspect import path/to/store - --rejected refused.jsonl
    """

  private static let searchDetails =
    """
    Prints the memos whose texts hold what QUERY says, newest first, each as soon as it is found, in
    the form of latest; on a terminal from the first match on, which stands out.

    Parts of QUERY between blanks have to be there all, in any order, as substrings in any script;
    a part between double quotation marks may have blanks. It has at most 1024 bytes and 32 parts.

    With --json the whole memo, and ranges: [[from, to], ...], where the parts are: offsets of its
    body's UTF-8. A memo of the trash has deletedAt as well. The exit code is 1 when nothing is
    found.

    What is looked for:
      --limit N         print at most N memos
      --folding HOW     exact: the same bytes; default: case, width, kana and normal form do not
                        matter; marks: accents and points do not matter either
      --trash           look into the trash and nowhere else, the latest deletion first

    Example:
      kvinspect search path/to/store milk --limit 20
    """

  private static func details(of name: CommandName) -> String {
    switch name {
    case .importMemos: importDetails
    case .latest:
      """
      Prints the newest memos, newest first: \(Arguments.standardLatestCount) of them, or N.
      As text, one line for each memo, on a terminal cut to fit; with --json the whole memo, in the
      form that import reads. How long it took goes to standard error.

      Example:
        kvinspect latest path/to/store 20
      """
    case .get:
      """
      Prints the memo with an id, whole. The id is typed as latest --json prints it: a text, a
      number, a UUID or bytes in hexadecimal; when it can mean several, all of their memos are
      printed. An id that begins with a hyphen needs -- before it.

      Examples:
        kvinspect get path/to/store a7
        kvinspect get path/to/store -- -a7
      """
    case .scan:
      """
      Prints every memo, newest first. With --json the output is a file that import reads.

      Example:
        kvinspect scan path/to/store --json > memos.jsonl
      """
    case .summary:
      """
      Prints how many memos the store holds, from when to when, and its files with their sizes.
      Reads little, however large the store is.

      With --json one object: memos, format, store, generation, sequence, segments, segmentBytes,
      logBytes, logEntries, replacedBytes, newest, oldest.

      Example:
        kvinspect summary path/to/store
      """
    case .verify:
      """
      Reads every byte of the store and checks it: checksums, order, counts, and that each id
      leads to its memo. Prints what is damaged; changes nothing. The exit code is 1 when something
      is damaged.

      With --json one object {file, offset, structure, reason} for each damaged place, and at the
      end one with sound, segments, blocks, entries and bytes.

      Example:
        kvinspect verify path/to/store
      """
    case .search: searchDetails
    case .find: findDetails
    case .segments: segmentsDetails
    case .segment: segmentDetails
    case .log: logDetails
    case .manifest: manifestDetails
    case .space: spaceDetails
    case .compact: compactDetails
    case .checkpoint: checkpointDetails
    case .salvage: salvageDetails
    }
  }
}
