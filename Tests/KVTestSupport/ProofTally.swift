import Foundation

/// Says how many cases a proof went through, one line for each part: `proof T8 calls 400000`.
///
/// Lines go to the file that `MEMOKV_PROOF_LOG` names, else to standard error.
package enum ProofTally {
  private static let log: FileHandle = {
    guard let path = ProcessInfo.processInfo.environment["MEMOKV_PROOF_LOG"] else {
      return .standardError
    }
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    return descriptor < 0 ? .standardError : FileHandle(fileDescriptor: descriptor)
  }()

  /// Adds a line: the number of the test in the plan, what was counted, and how many.
  package static func count(_ test: String, _ what: String, _ count: Int) {
    // One write, so that lines of tests that run side by side stay whole.
    log.write(Data("proof \(test) \(what) \(count)\n".utf8))
  }
}
