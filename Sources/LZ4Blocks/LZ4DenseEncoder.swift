/// Makes small LZ4 blocks: of all matches that it finds it takes those that cost least together.
///
/// A source is parsed in windows. Chains of places with the same hash lead to the longest match at
/// each place; a shorter one costs the same offset, so no other is needed. Then, from the back,
/// each place takes the literal or the match with which the rest of the window costs least.
package struct LZ4DenseEncoder: LZ4Encoder {
  private static let chainBitCount = 15
  private static let nearBitCount = 14
  /// Candidates that are looked at for one place.
  private static let attemptCount = 40
  /// A quarter of the candidates is enough where the place before has a match of more bytes.
  private static let fairByteCount = 8
  /// A match of that many bytes is good enough: nothing else is tried.
  private static let goodByteCount = 32
  private static let windowByteCount = 1 << 16

  /// Where chains begin, by five bytes: chains by four would be twice as long.
  private var heads = PlaceTable(bitCount: chainBitCount)
  /// By four bytes: the last place only.
  private var near = PlaceTable(bitCount: nearBitCount)
  /// For each of the last 65,536 places the one before in its chain, plus one.
  private var chain: ContiguousArray<UInt32> = []
  /// Whether the places of the dictionary have not been replaced since.
  private var isDictionaryInChain = false
  private var steps: ContiguousArray<Step> = []

  /// What is known about one place of a window.
  private struct Step {
    /// Bytes of the longest match, then of the one to take; 0 is a literal.
    var count: UInt32 = 0
    var offset: UInt32 = 0
    /// What the window costs from here on, in bytes.
    var cost: UInt32 = 0
    /// Literals from here to the next match.
    var literals: UInt32 = 0
  }

  package init() {}

  package mutating func use(dictionary: RawSpan) {
    reset(toDictionary: false)
    let places = 0..<max(0, dictionary.byteCount - 7)
    Self.insert(places, of: dictionary, &heads.places, &near.places, &chain)
    heads.keepForDictionary()
    near.keepForDictionary()
    isDictionaryInChain = true
  }

  package mutating func encode(
    _ source: RawSpan, from start: Int, into target: inout MutableRawSpan
  ) -> Int? {
    if start > 0, !isDictionaryInChain { use(dictionary: source.extracting(first: start)) }
    reset(toDictionary: start > 0)
    if start == 0 || source.byteCount > chain.count { isDictionaryInChain = false }
    var writer = SequenceWriter(from: start)
    var first = start
    while first < source.byteCount {
      let window = first..<min(first + Self.windowByteCount, source.byteCount)
      if steps.count <= window.count {
        steps = ContiguousArray(repeating: Step(), count: window.count + 1)
      }
      Self.findMatches(window, of: source, &heads.places, &near.places, &chain, &steps)
      Self.chooseSteps(window.count, &steps)
      while first < window.upperBound {
        let step = steps[first - window.lowerBound]
        let (count, offset) = (Int(step.count), Int(step.offset))
        if count > 0 {
          guard writer.append(source, match: first, count: count, offset: offset, to: &target)
          else { return nil }
        }
        first += max(1, count)
      }
    }
    return writer.finish(source, in: &target)
  }

  private mutating func reset(toDictionary: Bool) {
    heads.reset(toDictionary: toDictionary)
    near.reset(toDictionary: toDictionary)
    if chain.isEmpty { chain = ContiguousArray(repeating: 0, count: LZ4Limits.offset + 1) }
  }

  // The arrays are parameters because the spans of two of them cannot be had through one `self`.

  private static func insert(
    _ window: Range<Int>, of source: RawSpan, _ heads: inout ContiguousArray<UInt32>,
    _ near: inout ContiguousArray<UInt32>, _ chain: inout ContiguousArray<UInt32>
  ) {
    for place in window {
      let head = unsafe chainHash(source, place)
      chain[place & LZ4Limits.offset] = heads[head]
      heads[head] = UInt32(truncatingIfNeeded: place + 1)
      unsafe near[nearHash(source, place)] = UInt32(truncatingIfNeeded: place + 1)
    }
  }

  /// Finds the longest match at each place of a window.
  private static func findMatches(
    _ window: Range<Int>, of source: RawSpan, _ heads: inout ContiguousArray<UInt32>,
    _ near: inout ContiguousArray<UInt32>, _ chain: inout ContiguousArray<UInt32>,
    _ steps: inout ContiguousArray<Step>
  ) {
    var heads = heads.mutableSpan
    var near = near.mutableSpan
    var chain = chain.mutableSpan
    var steps = steps.mutableSpan
    let lastStart = source.byteCount - LZ4Limits.matchStartDistance
    let limit = min(window.upperBound, source.byteCount - LZ4Limits.matchEndDistance)
    var match = Match()
    for place in window {
      guard place <= lastStart else {
        steps[place - window.lowerBound] = Step()
        continue
      }
      // The match of the place before goes on.
      match.count = max(0, match.count - 1)
      let (head, recent) = unsafe (chainHash(source, place), nearHash(source, place))
      if match.count < goodByteCount, place + LZ4Limits.matchByteCount <= limit {
        var attempts = match.count >= fairByteCount ? attemptCount / 4 : attemptCount
        if match.count < LZ4Limits.matchByteCount {
          match.improve(source, place, Int(near[recent]) - 1, limit)
        }
        var candidate = Int(heads[head]) - 1
        while match.improve(source, place, candidate, limit), attempts > 0 {
          attempts -= 1
          candidate = Int(chain[candidate & LZ4Limits.offset]) - 1
        }
      }
      chain[place & LZ4Limits.offset] = heads[head]
      heads[head] = UInt32(truncatingIfNeeded: place + 1)
      near[recent] = UInt32(truncatingIfNeeded: place + 1)
      let isMatch = match.count >= LZ4Limits.matchByteCount
      steps[place - window.lowerBound] = Step(
        count: isMatch ? UInt32(truncatingIfNeeded: match.count) : 0,
        offset: UInt32(truncatingIfNeeded: match.offset))
    }
  }

  /// The longest match so far.
  private struct Match {
    var count = 0
    var offset = 0

    /// Takes a candidate if its match is longer.
    ///
    /// - Returns: Whether to look at further ones.
    @inline(__always) @discardableResult
    mutating func improve(
      _ source: RawSpan, _ place: Int, _ candidate: Int, _ limit: Int
    ) -> Bool {
      guard candidate >= 0, candidate < place, place - candidate <= LZ4Limits.offset else {
        return false
      }
      // The four bytes that would make it longer, then all.
      let last = max(0, count - 3)
      guard place + last + 4 <= limit else { return false }
      guard
        unsafe source.uncheckedWord(at: candidate + last, as: UInt32.self)
          == source.uncheckedWord(at: place + last, as: UInt32.self),
        unsafe source.uncheckedWord(at: candidate, as: UInt32.self)
          == source.uncheckedWord(at: place, as: UInt32.self)
      else { return true }
      let found = 4 + source.commonByteCount(candidate + 4, place + 4, limit: limit)
      if found > count {
        count = found
        offset = place - candidate
      }
      return count < goodByteCount
    }
  }

  /// Chooses from the back what to do at each place of a window.
  private static func chooseSteps(_ count: Int, _ steps: inout ContiguousArray<Step>) {
    var steps = steps.mutableSpan
    steps[count] = Step()
    for place in (0..<count).reversed() {
      var step = steps[place]
      let longest = Int(step.count)
      step.count = 0
      step.literals = steps[place + 1].literals + 1
      // The fifteenth literal and every 255th behind it need one more byte of the count.
      step.cost = steps[place + 1].cost + (step.literals % 255 == 15 ? 2 : 1)
      let shortest = longest >= goodByteCount ? longest : LZ4Limits.matchByteCount
      var length = longest
      while length >= shortest, length > 0 {
        let more = length < 19 ? 0 : UInt32(truncatingIfNeeded: (length - 19) / 255 + 1)
        let cost = steps[place + length].cost + 3 + more
        if cost < step.cost {
          step.cost = cost
          step.count = UInt32(truncatingIfNeeded: length)
          step.literals = 0
        }
        length -= 1
      }
      steps[place] = step
    }
  }

  @unsafe @inline(__always)
  private static func chainHash(_ source: RawSpan, _ place: Int) -> Int {
    unsafe PlaceTable.hash(source, place, byteCount: 5, bitCount: chainBitCount)
  }

  @unsafe @inline(__always)
  private static func nearHash(_ source: RawSpan, _ place: Int) -> Int {
    unsafe PlaceTable.hash(source, place, byteCount: 4, bitCount: nearBitCount)
  }
}
