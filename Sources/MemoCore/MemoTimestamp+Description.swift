extension MemoTimestamp: CustomStringConvertible {
  /// The timestamp in ISO 8601 form, for example "2024-05-01T12:00:00.125+09:00".
  ///
  /// Local time and offset as written down; "Z" for an offset of 0. The fraction has three digits,
  /// six when they are needed, and is left out when it is zero; the offset has seconds only when
  /// they are not zero. Years outside 0 to 9999 have a sign and six digits. Reading the text with
  /// ``init(iso8601:)`` gives an equal timestamp.
  public var description: String {
    let local = microseconds + Int64(offsetSeconds) * 1_000_000
    let (seconds, fraction) = floorDivision(local, by: 1_000_000)
    let (days, second) = floorDivision(Int(seconds), by: 86_400)

    var text: [UInt8] = []
    text.reserveCapacity(35)
    text.append(CivilDay(daysSince1970: days))
    text.append(UInt8(ascii: "T"))
    text.append(clock: second, withSeconds: true)
    if fraction != 0 {
      text.append(UInt8(ascii: "."))
      let isMilliseconds = fraction % 1000 == 0
      text.append(
        digits: Int(isMilliseconds ? fraction / 1000 : fraction), count: isMilliseconds ? 3 : 6)
    }
    if offsetSeconds == 0 {
      text.append(UInt8(ascii: "Z"))
    } else {
      text.append(UInt8(ascii: offsetSeconds < 0 ? "-" : "+"))
      text.append(clock: Int(abs(offsetSeconds)), withSeconds: offsetSeconds % 60 != 0)
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension Array<UInt8> {
  /// Appends seconds of less than a day as hours and minutes, or hours, minutes and seconds.
  fileprivate mutating func append(clock seconds: Int, withSeconds: Bool) {
    append(digits: seconds / 3600, count: 2)
    append(UInt8(ascii: ":"))
    append(digits: seconds / 60 % 60, count: 2)
    guard withSeconds else { return }
    append(UInt8(ascii: ":"))
    append(digits: seconds % 60, count: 2)
  }
}
