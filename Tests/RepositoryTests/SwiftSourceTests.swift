import Testing

/// The rules are only as good as what they look at.
@Suite struct SwiftSourceTests {
  private func source(_ text: String) -> SwiftSource { SwiftSource(path: "A.swift", text: text) }

  @Test func commentsAndLiteralsAreNoTokens() {
    let file = source(
      """
      // Block in a comment
      /* Block /* nested Block */ still */ let a = "Block \\(Real.name) \\" Block"
      let b = #"Block " \\(Block) \\#(Raw.name)"#
      """)
    #expect(file.tokens.map(\.text).contains("Block") == false)
    #expect(file.namedTypes.map(\.text) == ["Real", "Raw"])
    #expect(file.namedTypes.map(\.line) == [2, 3])
  }

  @Test func stringsOfSeveralLinesKeepTheCount() {
    let file = source("let a = \"\"\"\n  \"quoted\" Block\n  \"\"\"\nlet b = Last()")
    #expect(file.namedTypes.map(\.text) == ["Last"])
    #expect(file.namedTypes.map(\.line) == [4])
  }

  @Test func forcingIsToldFromNegation() {
    let file = source("let a = try !b()\nlet c = try! d()\nlet e = f as! G")
    #expect(file.linesForcing("try") == [2])
    #expect(file.linesForcing("as") == [3])
  }

  @Test func namesBehindADotAreNotNamed() {
    #expect(source("let a = Limits.Block.count + .Case").namedTypes.map(\.text) == ["Limits"])
  }

  @Test func nestedTypesHaveTheNamesAroundThem() {
    let file = source(
      """
      public struct A: Sendable {
        enum Kind: UInt8, CaseIterable { case one }
        class func make() {}
      }
      extension A.Kind {
        public final class Inner {}
      }
      private protocol P {}
      func free() { struct Local {} }
      """)
    let names = file.declarations.filter { $0.kind != "func" }.map(\.name)
    #expect(names == ["A", "A.Kind", "A.Kind.Inner", "P", "Local"])
    #expect(file.declarations.filter(\.isPublic).map(\.name) == ["A", "A.Kind.Inner"])
    #expect(file.declarations.filter(\.isFileLocal).map(\.name) == ["P"])
    #expect(file.declarations.filter(\.isAtFileLevel).map(\.name) == ["A", "P", "free"])
    let kind = file.declarations.first { $0.name == "A.Kind" }
    #expect(kind?.inheritance == ["UInt8", "CaseIterable"])
  }

  @Test func bodiesAreCountedFromTheirFirstLine() {
    let file = source(
      """
      struct A {
        func long(
          _ a: Int
        ) -> Int {
          if a > 0 {
            return 1
          }
          return 2
        }
        var short: Int { 1 }
      }
      """)
    #expect(file.bodies.map(\.line) == [2, 10])
    #expect(file.bodies.map(\.lineCount) == [8, 1])
  }

  @Test func importsAreFoundWithTheirAccess() {
    let file = source("@_exported public import A\ninternal import B\n@testable import C\n")
    #expect(file.imports == ["A", "B", "C"])
  }

  @Test func theCommentAboveADeclarationIsFound() {
    let file = source("/// One.\n///\n/// Two.\n@safe\nenum A: UInt8 {}\n\nenum B: UInt8 {}")
    #expect(file.comment(above: 5) == "/// One.\n///\n/// Two.")
    #expect(file.comment(above: 7) == "")
  }
}
