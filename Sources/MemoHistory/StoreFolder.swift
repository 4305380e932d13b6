internal import KVEngine

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Foundation
#endif

/// Folders for stores, where the system wants an app to keep what its user wrote.
///
/// Both calls return the folder's path, for a ``MemoStore``. They make the folder when it
/// is missing and leave what is in it alone, so an app can call them at every start, from any
/// thread. On Linux a folder is only made: protection and backup have no meaning there.
///
/// > Important: Protection and backup were type-checked against the interfaces of Apple systems
/// > and have not been run on one yet.
public enum StoreFolder {
  /// When files can be read and written on a device with a passcode.
  public enum Protection: Sendable, Hashable, CaseIterable {
    /// From the first unlock after a restart on, also while the device is locked again.
    ///
    /// What an app needs that is woken in the background.
    case untilFirstUnlock
    /// While the device is unlocked; at other times a store throws `notAvailableYet`.
    case whileUnlocked
  }

  /// Makes a folder in the app's folder for application support.
  ///
  /// That is `Library/Application Support` on Apple systems, and on Linux `XDG_DATA_HOME` or
  /// `~/.local/share`. On macOS outside of a sandbox and on Linux all apps share it: choose a name
  /// that no other app has.
  ///
  /// - Parameters:
  ///   - name: The folder's name; slashes make folders in folders.
  ///   - protection: When the files that come into the folder can be read.
  ///   - isBackedUp: Whether backups of the device hold the folder.
  /// - Returns: The folder's path.
  /// - Throws: ``MemoError/database(_:)`` with what the system refused.
  public static func applicationSupport(
    _ name: String, protection: Protection = .untilFirstUnlock, isBackedUp: Bool = true
  ) throws(MemoError) -> String {
    let path = applicationSupportPath + "/" + name
    return try make(at: path, protection: protection, isBackedUp: isBackedUp)
  }

  /// Makes a folder at a path of the app's choice, as in the container of an app group.
  ///
  /// - Parameters:
  ///   - path: The folder; folders above it that are missing are made as well.
  ///   - protection: When the files that come into the folder can be read. Files that are there
  ///     keep what they have.
  ///   - isBackedUp: Whether backups of the device hold the folder.
  /// - Returns: The path.
  /// - Throws: ``MemoError/database(_:)`` with what the system refused.
  @discardableResult
  public static func make(
    at path: String, protection: Protection = .untilFirstUnlock, isBackedUp: Bool = true
  ) throws(MemoError) -> String {
    do throws(SystemError) {
      try makeMissing(path)
      #if canImport(Darwin)
        try mark(path, protection, isBackedUp: isBackedUp)
      #endif
    } catch {
      throw .database(.io(error.failure))
    }
    return path
  }

  /// Makes a folder and those above it; each name is durable before one below it is made.
  private static func makeMissing(_ path: String) throws(SystemError) {
    let files = PosixFileSystem.shared
    do {
      return try files.makeDirectory(path)
    } catch {
      if error.isExisting, try files.status(path).kind == .directory { return }
      guard error.isNotFound, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
        throw error
      }
      let parent = String(path[..<slash])
      try makeMissing(parent)
      try files.syncDirectory(parent)
    }
    try files.makeDirectory(path)
  }

  #if canImport(Darwin)
    private static var applicationSupportPath: String {
      let path = URL.applicationSupportDirectory.path(percentEncoded: false)
      return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Sets what files that come into a folder inherit, and whether backups hold it.
    private static func mark(
      _ path: String, _ protection: Protection, isBackedUp: Bool
    ) throws(SystemError) {
      let kind: FileProtectionType =
        switch protection {
        case .untilFirstUnlock: .completeUntilFirstUserAuthentication
        case .whileUnlocked: .complete
        }
      do {
        try FileManager.default.setAttributes([.protectionKey: kind], ofItemAtPath: path)
        var folder = URL(filePath: path, directoryHint: .isDirectory)
        var values = URLResourceValues()
        values.isExcludedFromBackup = !isBackedUp
        try folder.setResourceValues(values)
      } catch {
        let reason = (error as? CocoaError)?.underlying as? POSIXError
        throw SystemError(.makeDirectory, path, code: reason?.code.rawValue ?? EIO)
      }
    }
  #else
    private static var applicationSupportPath: String {
      if let path = variable("XDG_DATA_HOME"), path.hasPrefix("/") { return path }
      return (variable("HOME") ?? "") + "/.local/share"
    }

    private static func variable(_ name: String) -> String? {
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe String(cString: value)
    }
  #endif
}
