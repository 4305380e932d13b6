// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// As much of UIKit as the examples name, so that they are compiled where UIKit is not. On Apple
// systems the examples use the framework itself.

@MainActor open class UIViewController {
  public init() {}
  open func viewWillAppear(_ animated: Bool) {}
  open func viewDidDisappear(_ animated: Bool) {}
}

@MainActor open class UITableViewController: UIViewController {
  public let tableView = UITableView()
}

@MainActor public final class UITableView {
  public var isDragging = false
  public func reloadData() {}
}
