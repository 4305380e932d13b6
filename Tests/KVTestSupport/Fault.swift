package import KVEngine

/// A planned misbehaviour of a file system.
package struct Fault: Sendable {
  /// What happens.
  package enum Effect: Sendable {
    /// The call fails with an error number.
    case error(Int32, after: Progress = .nothing)
    /// A read or write takes at most that many bytes; 0 is a write that takes nothing.
    case short(Int)
  }

  /// What a failing call did before it failed.
  package enum Progress: Sendable {
    case nothing
    /// Half of the bytes of a write; nothing for other calls.
    case part
    /// All of it: the failure is a false one.
    case everything
  }

  let effect: Effect
  let position: Int
  let kinds: Set<SystemError.Operation>
  let isLasting: Bool

  /// Plans an effect on the n-th call (counting from 1) of some kinds, by default of all kinds that
  /// it can have an effect on; a lasting one also has it on all later calls of these kinds.
  package init(
    _ effect: Effect, at position: Int, of kinds: Set<SystemError.Operation>? = nil,
    isLasting: Bool = false
  ) {
    self.effect = effect
    self.position = position
    let all: Set<SystemError.Operation> =
      switch effect {
      case .error: Set(SystemError.Operation.allCases)
      case .short: [.read, .write]
      }
    self.kinds = kinds?.intersection(all) ?? all
    self.isLasting = isLasting
  }
}

/// Faults that count the calls they are planned for.
struct FaultPlan {
  private var faults: [(fault: Fault, seenCount: Int)]
  private(set) var hitCount = 0
  private(set) var callCount = 0

  init(_ faults: [Fault]) {
    self.faults = faults.map { ($0, 0) }
  }

  /// Counts a call, and returns what happens to it; of several faults the first one does.
  mutating func next(_ operation: SystemError.Operation) -> Fault.Effect? {
    callCount += 1
    var effect: Fault.Effect?
    for index in faults.indices where faults[index].fault.kinds.contains(operation) {
      faults[index].seenCount += 1
      let (fault, seenCount) = faults[index]
      if seenCount == fault.position || (fault.isLasting && seenCount > fault.position) {
        effect = effect ?? fault.effect
      }
    }
    if effect != nil { hitCount += 1 }
    return effect
  }
}
