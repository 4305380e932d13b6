#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files and folders as a value: what a memory file system holds, without who uses it.
///
/// Names are bytes, since two strings that are equal may be two names.
package struct MemoryTree: Sendable {
  /// The number of "/".
  package static let root: UInt64 = 1

  /// A name in a folder, whether taken or free.
  package struct Place: Hashable, Sendable {
    package let folder: UInt64
    package let name: [UInt8]

    package init(folder: UInt64, name: [UInt8]) {
      self.folder = folder
      self.name = name
    }
  }

  /// Files by their number.
  package var files: [UInt64: PagedBytes] = [:]
  /// Folders by their number: what each name in them stands for.
  package var folders: [UInt64: [[UInt8]: UInt64]] = [root: [:]]

  /// Makes a tree of the root alone.
  package init() {}

  /// The number of the file or folder at a path; relative paths start at the root.
  package func number(
    _ path: String, for operation: SystemError.Operation
  ) throws(SystemError) -> UInt64 {
    guard !path.isEmpty else { throw SystemError(operation, path, code: ENOENT) }
    var number = Self.root
    for name in Self.names(path) {
      number = try child(name, of: number, path, operation)
    }
    return number
  }

  /// The folder and the name that a path ends with; the folder must exist, the name need not.
  package func place(
    _ path: String, for operation: SystemError.Operation
  ) throws(SystemError) -> Place {
    var names = Self.names(path)
    guard let last = names.popLast() else {
      throw SystemError(operation, path, code: path.isEmpty ? ENOENT : EEXIST)
    }
    var folder = Self.root
    for name in names {
      folder = try child(name, of: folder, path, operation)
    }
    guard folders[folder] != nil else { throw SystemError(operation, path, code: ENOTDIR) }
    return Place(folder: folder, name: last)
  }

  /// What stands at a place.
  package subscript(place: Place) -> UInt64? {
    get { folders[place.folder]?[place.name] }
    set { folders[place.folder]?[place.name] = newValue }
  }

  /// The names of a path, without empty ones and ".".
  package static func names(_ path: String) -> [[UInt8]] {
    path.utf8.split(separator: UInt8(ascii: "/"))
      .filter { !$0.elementsEqual(".".utf8) }
      .map { Array($0) }
  }

  private func child(
    _ name: [UInt8], of folder: UInt64, _ path: String, _ operation: SystemError.Operation
  ) throws(SystemError) -> UInt64 {
    guard let names = folders[folder] else { throw SystemError(operation, path, code: ENOTDIR) }
    guard let number = names[name] else { throw SystemError(operation, path, code: ENOENT) }
    return number
  }
}
