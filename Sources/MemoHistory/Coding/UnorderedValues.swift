internal import MemoCore

// Sets and dictionaries have no order that two runs of a program share, so they are told apart from
// lists and structs, and sorted by what is stored. Keys of dictionaries are data: a text or number
// stands in a map, where it is no name of a field; any other key in a list, in front of its value.

/// A value whose parts have no order of their own.
protocol UnorderedEncodable {
  /// The value in the one order that it is stored in.
  func payloadValue(with encoder: PayloadEncoder) throws -> PayloadValue
}

extension Set: UnorderedEncodable where Element: Encodable {
  func payloadValue(with encoder: PayloadEncoder) throws -> PayloadValue {
    var values: [(bytes: [UInt8], value: PayloadValue)] = []
    for element in self {
      let value = try encoder.value(of: element, at: PlaceKey(intValue: values.count))
      values.append((value.encoded, value))
    }
    values.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    return .list(values.map(\.value))
  }
}

extension Dictionary: UnorderedEncodable where Key: Encodable, Value: Encodable {
  func payloadValue(with encoder: PayloadEncoder) throws -> PayloadValue {
    Key.self is any CodingKeyRepresentable.Type
      ? try map(with: encoder) : try pairs(with: encoder)
  }

  private func map(with encoder: PayloadEncoder) throws -> PayloadValue {
    var entries: [PayloadValue.Entry] = []
    for (key, value) in self {
      guard let codingKey = (key as? any CodingKeyRepresentable)?.codingKey else { continue }
      let value = try encoder.value(of: value, at: PlaceKey(intValue: entries.count))
      entries.append(PayloadValue.Entry(key: codingKey.stringValue, value: value))
    }
    entries.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    for (entry, next) in zip(entries, entries.dropFirst())
    where entry.key.utf8.elementsEqual(next.key.utf8) {
      throw encoder.error("two keys of a dictionary have one name")
    }
    return .map(entries)
  }

  private func pairs(with encoder: PayloadEncoder) throws -> PayloadValue {
    var pairs: [(bytes: [UInt8], key: PayloadValue, value: PayloadValue)] = []
    for (key, value) in self {
      let place = PlaceKey(intValue: pairs.count)
      let key = try encoder.value(of: key, at: place)
      pairs.append((key.encoded, key, try encoder.value(of: value, at: place)))
    }
    pairs.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    return .list(pairs.flatMap { [$0.key, $0.value] })
  }
}

/// A type that reads what ``UnorderedEncodable`` made of it, where its own way to decode would not.
protocol UnorderedDecodable {
  init(unordered decoder: PayloadDecoder) throws
}

extension Dictionary: UnorderedDecodable where Key: Decodable, Value: Decodable {
  init(unordered decoder: PayloadDecoder) throws {
    self.init()
    if let type = Key.self as? any CodingKeyRepresentable.Type {
      guard case .map(let entries) = decoder.value else {
        throw decoder.mismatch(Self.self)
      }
      for (place, entry) in entries.enumerated() {
        let key = PlaceKey(stringValue: entry.key)
        guard let key = type.init(codingKey: key) as? Key else {
          throw decoder.corrupted("has a key of another type")
        }
        updateValue(try decoder.decode(entry.value, at: PlaceKey(intValue: place)), forKey: key)
      }
    } else {
      guard case .list(let values) = decoder.value, values.count.isMultiple(of: 2) else {
        throw decoder.mismatch(Self.self)
      }
      for place in stride(from: 0, to: values.count, by: 2) {
        let key: Key = try decoder.decode(values[place], at: PlaceKey(intValue: place))
        let value: Value = try decoder.decode(values[place + 1], at: PlaceKey(intValue: place + 1))
        updateValue(value, forKey: key)
      }
    }
  }
}
