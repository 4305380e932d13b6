import MemoHistory
import UIKit

final class NotesController: UITableViewController {
  private(set) var history: HistorySnapshot<Note>?
  private var observation: HistoryObservation<Note>?

  init(_ store: MemoStore<Note>) {
    super.init()
    observation = store.observe(by: self) { controller, history in controller.show(history) }
  }

  override func viewWillAppear(_ animated: Bool) { observation?.resume() }
  override func viewDidDisappear(_ animated: Bool) { observation?.pause() }

  func show(_ history: HistorySnapshot<Note>) {
    self.history = history
    tableView.reloadData()
  }
}
