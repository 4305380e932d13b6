import Foundation

/// The files of the repository that the tests of this target are about.
enum Repository {
  /// The folder of Package.swift: these tests lie two folders below it.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// All Swift files below Sources, Tools and Tests, by path from the root.
  static let swiftFiles: [SwiftSource] = files(below: ["Sources", "Tools", "Tests"])
    .filter { $0.hasSuffix(".swift") }
    .map { SwiftSource(path: $0, text: text(of: $0)) }

  /// Swift files of the product: everything but tests.
  static let productFiles = swiftFiles.filter { !$0.path.hasPrefix("Tests/") }

  /// Swift files below one folder, for example "Sources/KVEngine".
  static func swiftFiles(below folder: String) -> [SwiftSource] {
    swiftFiles.filter { $0.path.hasPrefix(folder + "/") }
  }

  /// Paths of all files below folders, in order, without what tools leave behind.
  static func files(below folders: [String]) -> [String] {
    folders.flatMap { folder in
      let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path())
      let paths = (names?.compactMap { $0 as? String } ?? []).map { folder + "/" + $0 }
      return paths.filter { !$0.contains("/.") && isFile($0) }.sorted()
    }
  }

  /// The text of a file by its path from the root; "" when it cannot be read, which tests notice.
  static func text(of path: String) -> String {
    (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
  }

  private static func isFile(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    let full = root.appending(path: path).path()
    return FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
      && !isFolder.boolValue
  }
}
