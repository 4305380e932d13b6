// swift-tools-version: 6.2
import PackageDescription

// A package of its own: users of the library need none of the peers.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "MemoKV", path: "..")],
  targets: [
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Debian's package has no .pc file; the module map names the library.
    .systemLibrary(name: "CLevelDB", providers: [.apt(["libleveldb-dev"])]),
    .systemLibrary(name: "CRocksDB", pkgConfig: "rocksdb", providers: [.apt(["librocksdb-dev"])]),
    // Header only: counts nothing outside of valgrind.
    .systemLibrary(name: "CValgrind", providers: [.apt(["valgrind"])]),
    .target(name: "CSyncs"),
    // The main package has its own, which it does not show.
    .systemLibrary(name: "CSystemLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    // A link to the sources of the main package's codec, which is no product of it.
    .target(name: "SwiftLZ4"),
    // What the library adds to a program: the second is the first with a store of memos.
    .executableTarget(name: "program-alone"),
    .executableTarget(
      name: "program-with-memohistory",
      dependencies: [.product(name: "MemoHistory", package: "MemoKV")]),
    .executableTarget(
      name: "memobench",
      dependencies: [
        "CLMDB", "CSQLite", "CLevelDB", "CRocksDB", "CSyncs", "CSystemLZ4", "CValgrind", "SwiftLZ4",
        .product(name: "KVEngine", package: "MemoKV"),
        .product(name: "MemoHistory", package: "MemoKV"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
