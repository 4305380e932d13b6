package import MemoCore

extension MemoID {
  /// The ids that a text on the command line can mean, likeliest first.
  ///
  /// People type what a listing shows, and that does not say of which kind an id is.
  package static func readings(of text: String) -> [MemoID] {
    var readings: [MemoID] = []
    if let id = try? MemoID(text) { readings.append(id) }
    if let number = Int64(text), String(number).utf8.elementsEqual(text.utf8) {
      readings.append(MemoID(number))
    }
    if let id = MemoID(uuidText: text) { readings.append(id) }
    if let id = MemoID(hexadecimal: text) { readings.append(id) }
    return readings
  }

  /// A UUID in its usual form, upper or lower case.
  init?(uuidText text: String) {
    var digits = Array(text.utf8)
    guard digits.count == 36 else { return nil }
    for position in [23, 18, 13, 8] where digits.remove(at: position) != UInt8(ascii: "-") {
      return nil
    }
    let words = [digits[..<16], digits[16...]].map {
      $0.contains(UInt8(ascii: "+")) ? nil : UInt64(String(decoding: $0, as: UTF8.self), radix: 16)
    }
    guard let high = words[0], let low = words[1] else { return nil }
    self.init(uuid: (high: high, low: low))
  }

  /// Bytes as pairs of hexadecimal digits, upper or lower case.
  init?(hexadecimal text: String) {
    guard let bytes = [UInt8](hexadecimal: text.utf8) else { return nil }
    guard let id = try? MemoID(bytes: bytes) else { return nil }
    self = id
  }
}
