internal import KVEngine
internal import MemoCore

extension Inspector {
  /// Takes one segment file apart.
  func segment(
    at path: String, showsBytes: Bool, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    do throws(DatabaseError) {
      let layout = try SegmentLayout(path)
      switch format {
      case .json: try printJSON(layout, showsBytes: showsBytes)
      case .text: try printText(layout, showsBytes: showsBytes)
      }
      return layout.isDamaged ? .damage : .fine
    } catch {
      throw .database(error)
    }
  }

  // MARK: - JSON

  private func printJSON(_ layout: SegmentLayout, showsBytes: Bool) throws(DatabaseError) {
    var parts: [JSONValue] = []
    for part in layout.parts {
      var members = [
        JSONMember("kind", .text(part.kind)), JSONMember("offset", .whole(part.range.lowerBound)),
        JSONMember("bytes", .whole(part.range.count)), JSONMember("sound", .bool(part.isSound)),
      ]
      if let frame = part.frame { members += Self.members(of: frame) }
      if showsBytes {
        var text: [UInt8] = []
        for byte in try layout.bytes(of: part) { KeyText.append(byte, to: &text) }
        members.append(JSONMember("hex", .text(String(decoding: text, as: UTF8.self))))
      }
      parts.append(.object(members))
    }
    var members = [
      JSONMember("file", .text(layout.fileName)), JSONMember("state", .text(layout.state.rawValue)),
      JSONMember("segment", .text(layout.reference.identity.text)),
      JSONMember("bytes", .whole(layout.byteCount)),
      JSONMember("entries", .whole(layout.verification.entryCount)),
    ]
    if let properties = layout.properties {
      members.append(JSONMember("properties", Self.value(of: properties)))
    }
    members.append(JSONMember("parts", .array(parts)))
    members.append(JSONMember(damage: layout.verification.corruptions))
    output.json(members)
  }

  private static func members(of frame: SegmentFrame) -> [JSONMember] {
    var members = [
      JSONMember("codec", .text("\(frame.head.codec)")),
      JSONMember("storedBytes", .whole(frame.head.storedByteCount)),
      JSONMember("decodedBytes", .whole(frame.head.decodedByteCount)),
    ]
    if frame.head.spaceCode != 0 {
      members.append(JSONMember("space", .whole(frame.head.spaceCode)))
    }
    if let contents = frame.contents {
      members += [
        JSONMember("entries", .whole(contents.entryCount)),
        JSONMember("deletions", .whole(contents.tombstoneCount)),
        JSONMember("firstKey", .text(KeyText.hexadecimal(contents.firstKey.dropFirst()))),
        JSONMember("lastKey", .text(KeyText.hexadecimal(contents.lastKey.dropFirst()))),
      ]
    }
    return members
  }

  private static func value(of properties: Properties) -> JSONValue {
    .object([
      JSONMember("lowestSequence", .whole(properties.lowestSequence)),
      JSONMember("highestSequence", .whole(properties.highestSequence)),
      JSONMember(
        "spaces",
        .array(
          properties.spaces.map { space in
            .object([
              JSONMember("code", .whole(space.code)),
              JSONMember("entries", .whole(space.entryCount)),
              JSONMember("deletions", .whole(space.tombstoneCount)),
              JSONMember("change", .whole(space.change)),
              JSONMember("bytes", .whole(space.byteCount)),
              JSONMember("firstKey", .text(KeyText.hexadecimal(space.firstKey.dropFirst()))),
              JSONMember("lastKey", .text(KeyText.hexadecimal(space.lastKey.dropFirst()))),
            ])
          })),
      JSONMember(
        "filters",
        .array(
          properties.filters.map { filter in
            .object([
              JSONMember("space", .whole(filter.spaceCode)),
              JSONMember("prefixBytes", .whole(filter.prefixByteCount)),
              JSONMember("offset", .whole(filter.handle.offset)),
              JSONMember("bytes", .whole(filter.handle.byteCount)),
            ])
          })),
    ])
  }

  // MARK: - Text

  private func printText(_ layout: SegmentLayout, showsBytes: Bool) throws(DatabaseError) {
    func label(_ code: UInt8) -> String { layout.names?.label(of: code) ?? "\(code)" }
    output.line("file       \(TerminalText.visible(layout.fileName)), \(layout.state.rawValue)")
    output.line("size       \(Self.bytes(layout.byteCount))")
    output.line("segment    \(layout.reference.identity.text)")
    if let properties = layout.properties {
      output.line("sequences  \(properties.lowestSequence) to \(properties.highestSequence)")
      for space in properties.spaces {
        output.line(
          "space      \(label(space.code)): \(counted(space.entryCount, "entry", "entries")),"
            + " \(counted(space.tombstoneCount, "deletion")), \(Self.bytes(space.byteCount)),"
            + " \(KeyText.short(space.firstKey)) to \(KeyText.short(space.lastKey))")
      }
      for filter in properties.filters {
        let part =
          filter.prefixByteCount == 0 ? "whole keys" : "\(filter.prefixByteCount) bytes of each key"
        output.line("filter     \(label(filter.spaceCode)): \(part)")
      }
    }
    output.line("")
    let parts = layout.parts
    for (position, line) in table(of: parts, label).lines.enumerated() {
      output.line(line)
      if showsBytes, position > 0 { try printBytes(of: parts[position - 1], in: layout) }
      if output.isClosed { return }
    }
    output.line("")
    let corruptions = layout.verification.corruptions
    if !corruptions.isEmpty, !layout.isDamaged {
      output.line("not complete, and not named by the MANIFEST: a writer may be at it")
    } else {
      for corruption in corruptions { output.line(corruption.line) }
    }
    output.line(
      [
        counted(layout.verification.blockCount, "sound block"),
        counted(layout.verification.entryCount, "entry", "entries"),
      ].joined(separator: ", "))
  }

  private func table(
    of parts: [SegmentLayout.Part], _ label: (UInt8) -> String
  ) -> TextTable {
    var table = TextTable([
      ("byte", .right), ("bytes", .right), ("what", .left), ("space", .left), ("codec", .left),
      ("decoded", .right), ("entries", .right), ("first key", .left),
    ])
    for part in parts {
      var cells = ["\(part.range.lowerBound)", "\(part.range.count)", part.kind]
      if let head = part.frame?.head {
        cells += [
          head.spaceCode == 0 ? "" : label(head.spaceCode), "\(head.codec)",
          "\(head.decodedByteCount)",
        ]
      } else {
        cells += ["", "", ""]
      }
      let contents = part.frame?.contents
      cells.append(contents.map { "\($0.entryCount)" } ?? "")
      cells.append(part.isSound ? contents.map { KeyText.short($0.firstKey) } ?? "" : "damaged")
      table.add(cells)
    }
    return table
  }

  /// Sixteen bytes a line: the place, the bytes, and those that are printable ASCII.
  private func printBytes(
    of part: SegmentLayout.Part, in layout: SegmentLayout
  ) throws(DatabaseError) {
    let bytes = try layout.bytes(of: part)
    for start in stride(from: 0, to: bytes.count, by: 16) {
      let line = bytes[start..<min(start + 16, bytes.count)]
      let place = String(part.range.lowerBound + start, radix: 16)
      var text = Array((String(repeating: "0", count: max(0, 8 - place.utf8.count)) + place).utf8)
      for offset in start..<start + 16 {
        text.append(text: offset == start + 8 ? "  " : " ")
        if offset < line.endIndex {
          KeyText.append(line[offset], to: &text)
        } else {
          text.append(text: "  ")
        }
      }
      text.append(text: "  ")
      text += line.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
      output.buffer += text
      output.endLine()
      if output.isClosed { return }
    }
  }
}
