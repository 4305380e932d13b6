import Glibc

/// What the numbers were taken on; they compare with nothing from another machine.
enum Machine {
  /// Processor, cores, kernel, file system and load, in one line.
  static func description(of folder: String) -> String {
    let processor = line("model name", of: "/proc/cpuinfo").map {
      $0.drop { $0 != ":" }.dropFirst(2)
    }
    let kernel = ((try? Files.text(of: "/proc/sys/kernel/osrelease")) ?? "").filter { $0 != "\n" }
    let load = ((try? Files.text(of: "/proc/loadavg")) ?? "").split(separator: " ").prefix(3)
    return "\(processor ?? "unknown processor"), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, "
      + "Linux \(kernel), \(fileSystem(of: folder)), load \(load.joined(separator: " "))"
  }

  private static func line(_ start: String, of path: String) -> Substring? {
    (try? Files.text(of: path))?.split(separator: "\n").first { $0.hasPrefix(start) }
  }

  /// Type of the file system that holds a folder: that of the longest mount point above it.
  private static func fileSystem(of folder: String) -> String {
    guard let resolved = try? Files.resolved(folder) else { return "unknown file system" }
    let path = resolved + "/"
    let mounts = ((try? Files.text(of: "/proc/mounts")) ?? "").split(separator: "\n")
    let fields = mounts.map { $0.split(separator: " ") }.filter { fields in
      guard fields.count > 2 else { return false }
      return path.hasPrefix(fields[1] == "/" ? "/" : fields[1] + "/")
    }
    return fields.max { $0[1].count < $1[1].count }.map { String($0[2]) } ?? "unknown file system"
  }
}
