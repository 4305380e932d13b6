import Foundation
import Testing

/// The privacy manifest that the App Store reads, against what the libraries call.
@Suite struct PrivacyManifestTests {
  /// Calls that need a reason by category, as far as a library without interface could make them.
  static let calls: [String: Set<String>] = [
    "FileTimestamp": [
      "stat", "fstat", "fstatat", "lstat", "getattrlist", "fgetattrlist", "getattrlistat",
      "getattrlistbulk", "creationDate", "modificationDate", "fileModificationDate",
      "contentModificationDateKey", "creationDateKey",
    ],
    "DiskSpace": [
      "statfs", "statvfs", "fstatfs", "fstatvfs", "systemFreeSize", "systemSize",
      "volumeAvailableCapacityKey", "volumeAvailableCapacityForImportantUsageKey",
      "volumeAvailableCapacityForOpportunisticUsageKey", "volumeTotalCapacityKey",
    ],
    "SystemBootTime": ["systemUptime", "mach_absolute_time"],
    "UserDefaults": ["UserDefaults", "NSUserDefaults"],
    "ActiveKeyboards": ["activeInputModes"],
  ]

  private static let prefix = "NSPrivacyAccessedAPICategory"
  private static let path = "Sources/KVEngine/PrivacyInfo.xcprivacy"

  private static func manifest() throws -> [String: Any] {
    let bytes = Data(Repository.text(of: path).utf8)
    let list = try PropertyListSerialization.propertyList(from: bytes, format: nil)
    return try #require(list as? [String: Any])
  }

  /// The reasons that the manifest gives by category.
  private static func reasons() throws -> [String: [String]] {
    let types = try #require(manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    var reasons: [String: [String]] = [:]
    for type in types {
      let category = try #require(type["NSPrivacyAccessedAPIType"] as? String)
      try #require(category.hasPrefix(prefix))
      reasons[String(category.dropFirst(prefix.count))] =
        type["NSPrivacyAccessedAPITypeReasons"] as? [String]
    }
    return reasons
  }

  /// The categories of which a module calls something.
  private static func categories(of module: String) -> Set<String> {
    let words = Set(
      Repository.swiftFiles(below: "Sources/" + module).flatMap(\.tokens).filter(\.isWord)
        .map(\.text))
    return Set(calls.filter { !$0.value.isDisjoint(with: words) }.keys)
  }

  @Test func nothingIsTrackedOrCollected() throws {
    let manifest = try Self.manifest()
    #expect(manifest["NSPrivacyTracking"] as? Bool == false)
    #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
    #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    #expect(manifest.count == 4)
  }

  @Test func theReasonsAreThoseOfOurCalls() throws {
    let reasons = try Self.reasons()
    #expect(reasons == ["FileTimestamp": ["C617.1"], "DiskSpace": ["E174.1"]])
    #expect(Set(reasons.keys) == Self.categories(of: "KVEngine"))
  }

  /// A manifest belongs to a module; the others would need one of their own.
  @Test(arguments: ["LZ4Blocks", "KVSalvage", "MemoCore", "MemoHistory", "MemoHistoryTesting"])
  func otherModulesNeedNoManifest(module: String) {
    #expect(Self.categories(of: module) == [])
  }

  @Test func onlyAppleSystemsGetAResource() {
    let lines = Repository.text(of: "Package.swift").split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.contains("PrivacyInfo.xcprivacy") })
    // `canImport` of a manifest asks for the system that builds.
    #expect(lines.contains("#if canImport(Darwin)"))
    #expect(lines.filter { $0.contains("resources:") }.count == 1)
  }
}
