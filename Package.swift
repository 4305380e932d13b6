// swift-tools-version: 6.2
import PackageDescription

// CI treats warnings as errors; an app that depends on this package does not have to.
let warningsAreErrors = Context.environment["MEMOKV_WARNINGS_AS_ERRORS"] != nil

let common: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
  ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

let strict: [SwiftSetting] = common + [.strictMemorySafety()]

// Deliberate mistakes in the engine, to try the tests on: see Tools/planted-faults.sh.
let plantsFaults = Context.environment["MEMOKV_PLANTED_FAULTS"] != nil
let engine: [SwiftSetting] = strict + (plantsFaults ? [.define("PLANTED_FAULTS")] : [])

// Optimising the tests takes most of the time of a build, and what takes time in them is the engine;
// but under a sanitizer their own code takes more than that.
let optimizesTests = Context.environment["MEMOKV_OPTIMIZED_TESTS"] != nil
let tests: [SwiftSetting] = common + (optimizesTests ? [] : [.unsafeFlags(["-Onone"])])

// Test targets to build where not all are wanted, as under a sanitizer; by commas.
let wantedTests = Context.environment["MEMOKV_TEST_TARGETS"]?.split(separator: ",").map(String.init)

// What the App Store wants to know of a library. A resource brings a bundle and, in generated code,
// Foundation, which the engine does without: so it is one only where somebody asks for it, and
// elsewhere it is excluded, since a file that no rule covers is a warning.
let privacyManifest = "PrivacyInfo.xcprivacy"
#if canImport(Darwin)
  let engineResources: [Resource] = [.copy(privacyManifest)]
  let engineExcludes: [String] = []
#else
  let engineResources: [Resource] = []
  let engineExcludes = [privacyManifest]
#endif

// Where the frameworks are not, the examples are compiled against stand-ins.
#if canImport(Darwin)
  let standIns: [String] = []
#else
  let standIns = ["SwiftUI", "UIKit"]
#endif
let examples: [Target.Dependency] =
  ["MemoHistoryTesting", "MemoHistory"] + standIns.map { .target(name: $0) }

let package = Package(
  name: "MemoKV",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "KVEngine", targets: ["KVEngine"]),
    .library(name: "KVSalvage", targets: ["KVSalvage"]),
    .library(name: "MemoHistory", targets: ["MemoHistory"]),
    .library(name: "MemoHistoryTesting", targets: ["MemoHistoryTesting"]),
    .executable(name: "kvinspect", targets: ["kvinspect"]),
  ],
  traits: [
    .trait(name: "SystemLZ4", description: "Compress with liblz4 of the system (Linux)."),
    .default(enabledTraits: ["SystemLZ4"]),
  ],
  targets: [
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4",
      providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .target(name: "CKVShims"),
    .target(
      name: "LZ4Blocks",
      dependencies: [
        .target(name: "CLZ4", condition: .when(platforms: [.linux], traits: ["SystemLZ4"]))
      ],
      swiftSettings: strict),
    .target(
      name: "KVEngine", dependencies: ["LZ4Blocks", "CKVShims"], exclude: engineExcludes,
      resources: engineResources, swiftSettings: engine),
    .target(name: "KVSalvage", dependencies: ["KVEngine"], swiftSettings: strict),
    .target(name: "CTextTables"),
    .target(name: "TextSearch", dependencies: ["CTextTables"], swiftSettings: strict),
    .target(
      name: "MemoCore", dependencies: ["TextSearch", "KVSalvage", "KVEngine"],
      swiftSettings: strict),
    .target(
      name: "MemoHistory", dependencies: ["MemoCore", "TextSearch"], swiftSettings: strict),
    .target(
      name: "MemoHistoryTesting", dependencies: ["MemoHistory", "MemoCore", "KVEngine"],
      swiftSettings: strict),
    .target(
      name: "KVInspectCore", dependencies: ["MemoCore", "TextSearch", "KVSalvage", "KVEngine"],
      path: "Tools/KVInspectCore", swiftSettings: strict),
    .executableTarget(
      name: "kvinspect", dependencies: ["KVInspectCore"],
      path: "Tools/kvinspect", swiftSettings: strict),
    .target(
      name: "KVTestSupport", dependencies: ["KVEngine"],
      path: "Tests/KVTestSupport", swiftSettings: common),
    .testTarget(
      name: "LZ4BlocksTests",
      dependencies: [
        "LZ4Blocks", "KVTestSupport",
        .target(name: "CLZ4", condition: .when(platforms: [.linux], traits: ["SystemLZ4"])),
      ],
      swiftSettings: common),
    .testTarget(
      name: "TextSearchTests", dependencies: ["TextSearch", "KVTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "KVEngineTests", dependencies: ["KVEngine", "KVTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "KVDurabilityTests",
      dependencies: ["KVSalvage", "KVEngine", "MemoCore", "KVTestSupport", "kvinspect"],
      swiftSettings: tests),
    .testTarget(
      name: "MemoHistoryTests",
      dependencies: [
        "MemoHistoryTesting", "MemoHistory", "MemoCore", "KVEngine", "KVTestSupport",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "KVInspectTests",
      dependencies: [
        "KVInspectCore", "MemoHistory", "MemoCore", "TextSearch", "KVEngine", "KVTestSupport",
        "kvinspect",
      ],
      exclude: ["Fixtures"], swiftSettings: tests),
    // The same sources twice: what they show has to compile whatever an app's default isolation is.
    .testTarget(
      name: "ExampleTests", dependencies: examples, swiftSettings: tests),
    .testTarget(
      name: "MainActorExampleTests", dependencies: examples,
      swiftSettings: tests + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "RepositoryTests", dependencies: ["KVEngine", "MemoCore"], swiftSettings: tests),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

package.targets += standIns.map {
  .target(name: $0, path: "Tests/StandIns/\($0)", swiftSettings: tests)
}

if let wantedTests {
  let names = package.targets.filter { $0.type == .test }.map(\.name)
  precondition(Set(wantedTests).isSubset(of: names), "MEMOKV_TEST_TARGETS: one of \(names)")
  package.targets.removeAll { $0.type == .test && !wantedTests.contains($0.name) }
}
