import Foundation

/// A folder on a real volume that is removed, with all it holds, when its owner lets go.
package final class TemporaryDirectory: Sendable {
  /// The folder's path, without a slash at its end.
  package let path: String

  /// Makes an empty folder of a name that nobody else has.
  package init() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("memokv-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    path = folder.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a name in the folder.
  package func path(_ name: String) -> String { path + "/" + name }
}
