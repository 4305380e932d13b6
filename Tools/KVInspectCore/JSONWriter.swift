/// Writes JSON that any reader reads back exactly and that may be shown on a terminal as it is.
package enum JSONWriter {
  /// Appends a value on one line, without blanks.
  package static func append(_ value: JSONValue, to output: inout [UInt8]) {
    switch value {
    case .null: output.append(text: "null")
    case .bool(let isTrue): output.append(text: isTrue ? "true" : "false")
    case .number(let number): output.append(text: number.text)
    case .string(let string): append(string.text, to: &output)
    case .array(let elements):
      output.append(text: "[")
      for (position, element) in elements.enumerated() {
        if position > 0 { output.append(text: ",") }
        append(element, to: &output)
      }
      output.append(text: "]")
    case .object(let members):
      output.append(text: "{")
      for (position, member) in members.enumerated() {
        if position > 0 { output.append(text: ",") }
        append(member.name, to: &output)
        output.append(text: ":")
        append(member.value, to: &output)
      }
      output.append(text: "}")
    }
  }

  /// Appends a text as a JSON string, every controlling character as an escape.
  ///
  /// - Complexity: O(bytes of the text).
  package static func append(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    let bytes = Array(text.utf8)
    // Stretches without escapes are copied whole.
    var start = 0
    var offset = 0
    while offset < bytes.count {
      guard let (scalar, byteCount) = escaped(bytes, at: offset) else {
        offset += 1
        continue
      }
      output.append(contentsOf: bytes[start..<offset])
      appendEscape(scalar, to: &output)
      offset += byteCount
      start = offset
    }
    output.append(contentsOf: bytes[start...])
    output.append(UInt8(ascii: "\""))
  }

  /// The character at an offset if it must be escaped, with its bytes of UTF-8.
  private static func escaped(_ bytes: [UInt8], at offset: Int) -> (UInt32, byteCount: Int)? {
    let first = UInt32(bytes[offset])
    switch first {
    case 0x22, 0x5C: return (first, 1)
    case 0x20..<0x7F: return nil
    case 0x00..<0x80: return (first, 1)
    // The first bytes of all other controlling characters.
    case 0xC2, 0xD8:
      let scalar = (first & 0x1F) << 6 | UInt32(bytes[offset + 1] & 0x3F)
      return isControlling(scalar) ? (scalar, 2) : nil
    case 0xE2, 0xEF:
      let scalar =
        (first & 0x0F) << 12 | UInt32(bytes[offset + 1] & 0x3F) << 6
        | UInt32(bytes[offset + 2] & 0x3F)
      return isControlling(scalar) ? (scalar, 3) : nil
    default: return nil
    }
  }

  private static func isControlling(_ value: UInt32) -> Bool {
    Unicode.Scalar(value)?.isControlling ?? false
  }

  private static func appendEscape(_ scalar: UInt32, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\\"))
    switch scalar {
    case 0x22, 0x5C: output.append(UInt8(scalar))
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x0C: output.append(UInt8(ascii: "f"))
    case 0x0A: output.append(UInt8(ascii: "n"))
    case 0x0D: output.append(UInt8(ascii: "r"))
    case 0x09: output.append(UInt8(ascii: "t"))
    default:
      // All of them are below U+10000.
      let digits = String(scalar, radix: 16)
      output.append(text: "u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
    }
  }
}
