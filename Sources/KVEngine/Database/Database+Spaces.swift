extension Database {
  /// The space with a name, made when there is none.
  ///
  /// The names are stored; the same name stands for the same space for ever. Making one is a change
  /// of the store like a write.
  ///
  /// - Parameter name: Up to 255 bytes of UTF-8, compared byte by byte; "" is ``Space/standard``.
  /// - Returns: The space.
  /// - Throws: ``DatabaseError/limitExceeded(what:maximum:)`` for a name that is too long or when
  ///   there are 190 spaces already, ``DatabaseError/notFound(fileName:)`` for a missing one in a
  ///   handle that only reads, and as ``write(_:durability:)-(WriteBatch,_)``.
  /// - Complexity: O(1); making a space publishes the state once.
  public func space(_ name: String) throws(DatabaseError) -> Space {
    try check()
    let bytes = Array(name.utf8)
    if bytes.isEmpty { return .standard }
    guard bytes.count <= Limits.Space.nameMaximumByteCount else {
      throw .limitExceeded(what: "name of a space", maximum: Limits.Space.nameMaximumByteCount)
    }
    if let known = state.readView.space(named: bytes) { return known }
    if let known = try currentView().space(named: bytes) { return known }
    if options.isReadOnly { throw .notFound(fileName: "space") }
    return try exclusively { writer throws(DatabaseError) in
      try writer.makeSpace(named: bytes)
    }
  }

  /// The names of all spaces that were made, in the order in which they were.
  ///
  /// - Throws: ``DatabaseError/closed``, ``DatabaseError/usedAfterFork``, and what keeps the state
  ///   from being read, as at open.
  public func spaceNames() throws(DatabaseError) -> [String] {
    try check()
    return try currentView().spaces.map { String(decoding: $0.name, as: UTF8.self) }
  }
}

extension ReadView {
  func space(named name: [UInt8]) -> Space? {
    spaces.first { $0.name == name }.map { Space(code: $0.code) }
  }
}

extension Writer {
  /// The space with a name; a new one gets the next free code.
  mutating func makeSpace(named name: [UInt8]) throws(DatabaseError) -> Space {
    let store = try begin()
    // Another process may have made it: only now is the state certain.
    if let known = state.readView.space(named: name) { return known }
    let last = store.manifest.spaces.map(\.code).max() ?? Limits.Space.firstUserCode
    guard last < Limits.Space.userCodes.upperBound else {
      throw .limitExceeded(
        what: "number of spaces",
        maximum: Int(Limits.Space.userCodes.upperBound - Limits.Space.firstUserCode))
    }
    var manifest = store.manifest
    manifest.spaces.append(NamedSpace(code: last + 1, name: name))
    try publish(manifest, replacing: store)
    return Space(code: last + 1)
  }
}
