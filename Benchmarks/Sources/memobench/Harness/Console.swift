import Glibc

/// Text to the standard streams, at once.
enum Console {
  static func out(_ text: String) { write(text, 1) }
  static func error(_ text: String) { write(text, 2) }

  private static func write(_ text: String, _ descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }
}
