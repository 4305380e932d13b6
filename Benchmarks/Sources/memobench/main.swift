import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
let repository = String(#filePath.dropLast("/Benchmarks/Sources/memobench/main.swift".count))

do throws(BenchmarkError) {
  if arguments.first == "--child" {
    try ChildWork.run(Array(arguments.dropFirst()))
    exit(0)
  }
  let options = try Options(arguments)
  if options.isList {
    print("workloads:")
    for workload in WorkloadCatalog.all { print("  \(workload.name): \(workload.summary)") }
    print("engines:")
    for engine in EngineCatalog.all { print("  \(engine.name): \(engine.settings)") }
    exit(0)
  }
  switch options.task {
  case .measure: try run(options)
  case .gates: exit(try GateRun(options, repository: repository).run() ? 0 : 1)
  case .bounds: try GateRun(options, repository: repository).writeTable()
  }
} catch {
  Console.error("memobench: \(error)\n")
  exit(1)
}

/// Runs the chosen workloads and prints each row when it is there.
func run(_ options: Options) throws(BenchmarkError) {
  let bench = try Bench(
    options, repository: repository, corpus: Corpus.standard(besides: repository))
  defer { bench.removeFolder() }
  let show = options.isJSON ? Console.error : Console.out
  let comparison = try options.oldResult.map { path throws(BenchmarkError) in
    try Comparison(path, data: bench.corpus.source, count: options.count)
  }
  var report = Report(
    data: bench.corpus.source, count: options.count,
    machine: Machine.description(of: bench.folder),
    settings: bench.engines.map { ($0.name, $0.settings) })
  show(report.headText)
  let deadline = options.minutes.map { now() + $0 * 60_000_000_000 } ?? .max
  for workload in WorkloadCatalog.all
  where workload.isChosen(by: options.filter) {
    let start = now()
    if start > deadline {
      show("\n\(workload.name): left out, the time is over\n")
      continue
    }
    for row in try workload.rows(bench) {
      report.add(row)
      show(Report.text(of: row))
    }
    bench.progress("\(workload.name) took \(Format.duration(Double(now() - start)))")
  }
  if let comparison { show(comparison.text(report.rows)) }
  if let page = options.page { try Files.write(Page(report: report).html, to: page) }
  if let path = options.goalTable { try Files.write(report.goalTable, to: path) }
  if options.isJSON { Console.out(report.json) }
}
