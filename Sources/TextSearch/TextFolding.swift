/// Which forms of a text a search takes for the same.
///
/// Query and text are folded alike, and only for comparing: what is stored and returned is as it
/// was written.
public enum TextFolding: Sendable, Hashable, CaseIterable {
  /// None but the same bytes.
  case exact
  /// Upper and lower case, composed and decomposed, full and half width, hiragana and katakana.
  ///
  /// Unicode's NFKC_Casefold (version 15.0), with hiragana written as katakana; characters without
  /// a look of their own, such as a soft hyphen or a joiner, are left out.
  case standard
  /// The same, and marks above, below and through letters are left out.
  ///
  /// The voiced marks of kana stay: they make another letter, as `ga` is none of the forms of `ka`.
  /// So do vowel signs, and marks that take a vowel away or make another consonant.
  case withoutMarks
}
