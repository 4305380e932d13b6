import Glibc

/// What workloads share: options, memos, engines and the stores that are loaded already.
final class Bench {
  let options: Options
  let corpus: Corpus
  /// The engines that take part.
  let engines: [any Engine]
  /// Those of them that have stores of their own.
  let originals: [any Engine]
  let folder: String
  /// Path of `kvinspect`, as `make kvinspect` leaves it; `nil` when it is not there.
  let inspector: String?
  private var fixtures: [String: Fixture] = [:]

  /// A store with memos in it.
  struct Fixture {
    let folder: String
    let loadTime: Int
    let loadUsage: Usage?
    let freshByteCount: Int
    let freshLiveByteCount: Int?
    /// `nil` where there is no such pass.
    var settling: Settling?
  }

  /// The pass after a load.
  struct Settling {
    let duration: Int
    let byteCount: Int
    let liveByteCount: Int?
  }

  init(
    _ options: Options, repository: String, corpus: Corpus
  ) throws(BenchmarkError) {
    self.options = options
    self.corpus = corpus
    let chosen = options.engines
    engines = EngineCatalog.all.filter { chosen?.contains($0.name) ?? true }
    originals = engines.filter { $0.original == nil }
    try ChildProcess.run("/bin/mkdir", ["-p", options.folder])
    folder = options.folder + "/memobench-\(getpid())"
    try Files.makeFolder(folder)
    let tool = repository + "/.build/release/kvinspect"
    inspector = Files.exists(tool) ? tool : nil
  }

  func removeFolder() {
    try? Files.remove(folder)
  }

  /// A number of samples, fewer for a quick run.
  func samples(_ count: Int) -> Int { options.isQuick ? max(count / 10, 5) : count }

  /// Says on standard error what is being done.
  func progress(_ text: String) {
    Console.error("  " + text + "\n")
  }

  /// The engines that a closure gives a cell for; those that cannot do the work are left out.
  func cells(
    of engines: [any Engine], _ body: (any Engine) throws(BenchmarkError) -> Cell
  ) throws(BenchmarkError) -> [Cell] {
    var cells: [Cell] = []
    for engine in engines {
      do throws(BenchmarkError) {
        cells.append(try body(engine))
      } catch {
        if !error.isUnsupported { throw BenchmarkError("\(engine.name): \(error)") }
        progress("\(engine.name): \(error)")
      }
    }
    return cells
  }

  /// A store with the first `count` memos, loaded and settled; the same one for every caller, so
  /// nobody writes to it.
  func fixture(_ engine: any Engine, _ count: Int) throws(BenchmarkError) -> Fixture {
    let key = "\(engine.original ?? engine.name)-\(count)"
    if let known = fixtures[key] { return known }
    progress("loading \(count) memos into \(engine.name)")
    let store = folder + "/" + key
    try Files.makeFolder(store)
    var fixture =
      engine is MemoHistoryEngine
      ? try importing(count, into: store)
      : try loading(engine, count, into: store)
    fixture.settling = try settling(engine, store)
    Files.settleDevice()
    fixtures[key] = fixture
    return fixture
  }

  /// The engines with stores of their own that can be loaded; a failure other than a lacking call
  /// ends the run.
  func loaded(_ count: Int) throws(BenchmarkError) -> [any Engine] {
    var loaded: [any Engine] = []
    _ = try cells(of: originals) { engine throws(BenchmarkError) in
      _ = try fixture(engine, count)
      loaded.append(engine)
      return Cell(engine.name, 0)
    }
    return loaded
  }

  /// A copy of such a store, for workloads that write.
  func copy(
    _ engine: any Engine, _ count: Int, named name: String
  ) throws(BenchmarkError) -> String {
    let target = folder + "/\(name)-\(engine.name)"
    try Files.copy(try fixture(engine, count).folder, to: target)
    return target
  }

  /// Loads a store in a folder that is there, and takes the time.
  func loading(
    _ engine: any Engine, _ count: Int, into folder: String
  ) throws(BenchmarkError) -> Fixture {
    let start = now()
    let usage = Usage.start
    let store = try engine.open(folder, isLoading: true)
    for first in stride(from: 0, to: count, by: 100_000) {
      try store.load((first..<min(first + 100_000, count)).map(corpus.memo))
    }
    try store.finishLoading()
    let duration = now() - start
    let live = store.liveByteCount
    try store.close()
    return Fixture(
      folder: folder, loadTime: duration, loadUsage: Usage.current - usage,
      freshByteCount: Files.allocatedByteCount(of: storeFolder(folder)), freshLiveByteCount: live)
  }

  /// Loads through `kvinspect import`.
  private func importing(_ count: Int, into folder: String) throws(BenchmarkError) -> Fixture {
    guard let inspector else { throw .unsupported("kvinspect: make kvinspect builds it") }
    let lines = folder + "/memos.jsonl"
    try JSONLines.write(corpus, count, to: lines)
    let outcome = try ChildProcess.run(inspector, ["import", folder + "/store", lines])
    try Files.remove(lines)
    return Fixture(
      folder: folder, loadTime: outcome.duration, loadUsage: nil,
      freshByteCount: Files.allocatedByteCount(of: folder + "/store"), freshLiveByteCount: nil)
  }

  private func settling(
    _ engine: any Engine, _ folder: String
  ) throws(BenchmarkError) -> Settling? {
    let store = try engine.open(folder)
    let start = now()
    do throws(BenchmarkError) {
      try store.settle()
    } catch {
      try store.close()
      if error.isUnsupported { return nil }
      throw error
    }
    let duration = now() - start
    let live = store.liveByteCount
    try store.close()
    return Settling(
      duration: duration, byteCount: Files.allocatedByteCount(of: storeFolder(folder)),
      liveByteCount: live)
  }

  /// Where an engine's files are: ours has a folder of its own inside.
  func storeFolder(_ folder: String) -> String {
    Files.exists(folder + "/store") ? folder + "/store" : folder
  }
}
