import Foundation

/// Makes a symbolic link on the volume of the operating system.
func makeSymbolicLink(at path: String, to target: String) throws {
  try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
}
