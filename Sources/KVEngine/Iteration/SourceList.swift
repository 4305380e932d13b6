/// The cursors of a merge, each changed in its place.
///
/// An array cannot hold them: they are not copyable.
@safe
struct SourceList: ~Copyable {
  private let cursors: UnsafeMutableBufferPointer<SourceCursor>

  init(_ sources: [MergeSource]) {
    unsafe cursors = .allocate(capacity: sources.count)
    for (index, source) in sources.enumerated() {
      unsafe cursors.initializeElement(at: index, to: SourceCursor(source))
    }
  }

  deinit {
    unsafe cursors.deinitialize()
    unsafe cursors.deallocate()
  }

  var indices: Range<Int> { unsafe 0..<cursors.count }

  subscript(index: Int) -> SourceCursor {
    // Indices are those of `indices`: the heap of the merge holds no others.
    unsafeAddress { unsafe UnsafePointer(cursors.baseAddress.unsafelyUnwrapped + index) }
    unsafeMutableAddress { unsafe cursors.baseAddress.unsafelyUnwrapped + index }
  }
}
