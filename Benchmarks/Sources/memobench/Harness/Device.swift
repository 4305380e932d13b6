import Glibc

/// The device under a folder.
enum Device {
  /// Bytes that were written to the device that holds a folder since the system started, by all
  /// programs; `nil` where the system does not say.
  ///
  /// `write_bytes` of /proc/self/io is no measure for small writes into large files: it counts a
  /// whole folio of the page cache, up to 64 KiB and more, when one byte of it changes, while the
  /// device gets one block.
  static func bytesWritten(holding folder: String) -> Int? {
    // The seventh field counts sectors of 512 bytes.
    counter(6, holding: folder).map { $0 * 512 }
  }

  /// Reads of that device, after the system has put neighbours together.
  static func readCount(holding folder: String) -> Int? {
    counter(0, holding: folder)
  }

  /// A field of the device's statistics.
  private static func counter(_ place: Int, holding folder: String) -> Int? {
    var status = stat()
    guard stat(folder, &status) == 0 else { return nil }
    let device = status.st_dev
    let major = device >> 8 & 0xFFF
    let minor = device & 0xFF | device >> 12 & 0xFFF00
    let text = try? Files.text(of: "/sys/dev/block/\(major):\(minor)/stat")
    let fields = (text ?? "").split(whereSeparator: { $0 == " " || $0 == "\n" })
    return fields.count > place ? Int(fields[place]) : nil
  }
}
