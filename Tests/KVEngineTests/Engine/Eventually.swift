import Foundation

/// Whether something holds now or within half a minute: for what another thread does by itself.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  for _ in 0..<3000 {
    if try condition() { return true }
    usleep(10_000)
  }
  return false
}
