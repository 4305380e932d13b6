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
    var status = stat()
    guard stat(folder, &status) == 0 else { return nil }
    let device = status.st_dev
    let major = device >> 8 & 0xFFF
    let minor = device & 0xFF | device >> 12 & 0xFFF00
    let text = try? Files.text(of: "/sys/dev/block/\(major):\(minor)/stat")
    let fields = (text ?? "").split(whereSeparator: { $0 == " " || $0 == "\n" })
    // The seventh field counts sectors of 512 bytes.
    return fields.count > 6 ? Int(fields[6]).map { $0 * 512 } : nil
  }
}
