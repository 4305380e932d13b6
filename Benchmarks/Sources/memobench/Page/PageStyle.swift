/// Colours and sizes of the page, light and dark.
enum PageStyle {
  static var css: String {
    let light = colours.map { "  --\($0.engine): \($0.light);\n" }.joined()
    let dark = colours.map { "    --\($0.engine): \($0.dark);\n" }.joined()
    let classes = colours.map { ".e-\($0.engine) { --own: var(--\($0.engine)); }\n" }.joined()
    return """
      :root {
        color-scheme: light dark;
        --paper: #fff; --ink: #1c2024; --faint: #60646c; --grid: #e4e6ea; --card: #f8f9fb;
        --reached: #18794e; --missed: #c62a2f;
      \(light)}
      @media (prefers-color-scheme: dark) {
        :root {
          --paper: #14161a; --ink: #e8eaed; --faint: #a0a5ad; --grid: #2e323a; --card: #1b1e24;
          --reached: #4cc38a; --missed: #ff8589;
      \(dark)  }
      }
      \(classes)\(rules)
      """
  }

  /// Ours are blue and green; peers are far from them and from each other, grey is the device.
  private static let colours: [(engine: String, light: String, dark: String)] = [
    ("memokv", "#0b5fd9", "#5aa2ff"), ("memokv-64m", "#6f9fe8", "#2f6fc4"),
    ("memohistory", "#0a8a7b", "#33c9b5"), ("lmdb", "#d9610b", "#ff9a4d"),
    ("sqlite", "#8b4cc7", "#c08bf0"), ("leveldb", "#b5124f", "#ff6f9c"),
    ("rocksdb", "#8a7a12", "#d8c64a"), ("raw", "#7c828b", "#8b919b"),
    ("raw-append", "#a5abb4", "#666c76"), ("nothing", "#a5abb4", "#666c76"),
  ]

  private static let rules = """
    body { background: var(--paper); color: var(--ink); margin: 2rem auto; max-width: 76rem;
      padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
    h1 { font-size: 1.7rem; margin: 0 0 .5rem; }
    h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
    p { margin: .3rem 0; color: var(--faint); }
    .cards { columns: 30rem 2; column-gap: 1rem; }
    figure { margin: 0 0 1rem; padding: .9rem 1rem; border-radius: 10px; background: var(--card);
      break-inside: avoid; }
    figure.wide { max-width: 62rem; }
    figcaption { margin-bottom: .5rem; }
    svg { width: 100%; height: auto; display: block; font: 12px system-ui, sans-serif; }
    .grid { stroke: var(--grid); }
    .one { stroke: var(--ink); stroke-width: 1.5; }
    .tick { fill: var(--faint); font-size: 11px; }
    .label { fill: var(--ink); }
    .bar, .dot { fill: var(--own); }
    .dot { stroke: var(--card); stroke-width: 1.5; }
    .curve { fill: none; stroke: var(--own); stroke-width: 2; stroke-linejoin: round; }
    .legend span { color: var(--ink); margin-right: 1rem; white-space: nowrap; }
    .legend span::before { content: ""; display: inline-block; width: .7em; height: .7em;
      margin-right: .4em; border-radius: 2px; background: var(--own); }
    .goal { font-size: 13px; }
    .reached { color: var(--reached); }
    .missed { color: var(--missed); }
    details { margin-top: .5rem; font-size: 13px; color: var(--faint); }
    pre { overflow-x: auto; font-size: 11px; line-height: 1.4; }
    .settings { border-collapse: collapse; font-size: 13px; }
    .settings th { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top; }
    .settings td { color: var(--faint); padding: .2rem 0; }

    """
}
