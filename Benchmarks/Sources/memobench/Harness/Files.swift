import Glibc

/// What the benchmarks need of files and folders.
enum Files {
  static func text(of path: String) throws(BenchmarkError) -> String {
    guard let file = fopen(path, "r") else { throw BenchmarkError("cannot open \(path)") }
    defer { fclose(file) }
    return String(decoding: read(file), as: UTF8.self)
  }

  /// Everything that a stream has to give.
  static func read(_ file: UnsafeMutablePointer<FILE>) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
  }

  static func write(_ text: String, to path: String) throws(BenchmarkError) {
    guard let file = fopen(path, "w") else { throw BenchmarkError("cannot make \(path)") }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else { throw BenchmarkError("cannot write \(path)") }
  }

  /// The path of what a link leads to.
  static func resolved(_ path: String) throws(BenchmarkError) -> String {
    guard let resolved = realpath(path, nil) else { throw BenchmarkError("no \(path)") }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  static func makeFolder(_ path: String) throws(BenchmarkError) {
    if mkdir(path, 0o755) != 0, errno != EEXIST {
      throw BenchmarkError("cannot make \(path): error \(errno)")
    }
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  static func remove(_ path: String) throws(BenchmarkError) {
    try ChildProcess.run("/bin/rm", ["-rf", path])
  }

  /// Copies a store, and waits until the device has it.
  static func copy(_ source: String, to target: String) throws(BenchmarkError) {
    try remove(target)
    try ChildProcess.run("/bin/cp", ["-r", source, target])
    settleDevice()
  }

  /// Waits until nothing is left to be written, so that no earlier work is paid for by the next.
  static func settleDevice() {
    Glibc.sync()
  }

  /// Takes the files of a store out of the cache of the system, as far as it lets go of them.
  static func evict(_ folder: String) {
    settleDevice()
    for path in paths(in: folder) {
      let descriptor = open(path, O_RDONLY)
      if descriptor < 0 { continue }
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      close(descriptor)
    }
  }

  static func byteCount(of path: String) throws(BenchmarkError) -> Int {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw BenchmarkError("no \(path)") }
    return Int(status.st_size)
  }

  /// Bytes that a store's files take on the device; a store is a folder without folders.
  static func allocatedByteCount(of folder: String) -> Int {
    paths(in: folder).reduce(0) { total, path in
      var status = stat()
      return lstat(path, &status) == 0 ? total + Int(status.st_blocks) * 512 : total
    }
  }

  /// The files in a folder.
  private static func paths(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var paths: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      var status = stat()
      let path = folder + "/" + name
      if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { paths.append(path) }
    }
    return paths
  }
}
