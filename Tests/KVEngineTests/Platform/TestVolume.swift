import KVEngine
import KVTestSupport

/// The file systems that have to behave alike.
enum TestVolume: String, CaseIterable, Sendable {
  case posix, memory, recording, faultless

  /// An empty folder on such a file system.
  func makeFolder() throws -> TestFolder {
    if self == .posix {
      let directory = try TemporaryDirectory()
      return TestFolder(PosixFileSystem.shared, directory.path, keeping: directory)
    }
    let files: any FileSystem =
      switch self {
      case .posix, .memory: MemoryFileSystem()
      case .recording: RecordingFileSystem()
      case .faultless: FaultFileSystem(MemoryFileSystem())
      }
    try files.makeDirectory("/folder")
    return TestFolder(files, "/folder", keeping: nil)
  }
}

/// A folder to work in.
struct TestFolder {
  let files: any FileSystem
  let path: String
  private let owner: TemporaryDirectory?

  init(_ files: any FileSystem, _ path: String, keeping owner: TemporaryDirectory?) {
    self.files = files
    self.path = path
    self.owner = owner
  }

  /// The path of a name in the folder.
  subscript(name: String) -> String { path + "/" + name }
}

/// The error number of a call that has to fail; 0 when it does not.
func code(_ call: () throws -> Void) -> Int32 {
  do {
    try call()
    return 0
  } catch let error as SystemError {
    return error.code
  } catch let error as WriteFailure {
    return error.cause.code
  } catch {
    return -1
  }
}
