// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// As much of SwiftUI as the examples name, so that they are compiled where SwiftUI is not. Shapes
// only: nothing is drawn. On Apple systems the examples use the framework itself.

public import Foundation

@MainActor public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError("a primitive view has no body") }
}

@MainActor @resultBuilder public enum ViewBuilder {
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<repeat each Content> {
    TupleView(repeat each content)
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

public struct EmptyView: View {
  public typealias Body = Never
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct TupleView<each Content: View>: View {
  public typealias Body = Never
  init(_ content: repeat each Content) {}
  public var body: Never { fatalError("a primitive view has no body") }
}

extension Optional: View where Wrapped: View {
  public typealias Body = Never
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct Text: View {
  public typealias Body = Never
  public init(_ text: String) {}
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct ProgressView: View {
  public typealias Body = Never
  public init() {}
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct Button: View {
  public typealias Body = Never
  public init(_ title: String, action: @escaping @MainActor () -> Void) {}
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct TextField: View {
  public typealias Body = Never
  public init(_ title: String, text: Binding<String>) {}
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct List<Content: View>: View {
  public typealias Body = Never
  public init(@ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct Section<Content: View>: View {
  public typealias Body = Never
  public init(_ title: String, @ViewBuilder content: () -> Content) {}
  public var body: Never { fatalError("a primitive view has no body") }
}

public struct ForEach<Data: RandomAccessCollection, Content: View>: View
where Data.Element: Identifiable {
  public typealias Body = Never
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
  public func onDelete(perform action: ((IndexSet) -> Void)?) -> ForEach { self }
  public var body: Never { fatalError("a primitive view has no body") }
}

extension View {
  public func onSubmit(_ action: @escaping () -> Void) -> some View { self }
  public func searchable(text: Binding<String>) -> some View { self }
}

@propertyWrapper public struct State<Value> {
  public init(wrappedValue: Value) { value = wrappedValue }
  public init(initialValue: Value) { value = initialValue }
  public var wrappedValue: Value {
    get { value }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { Binding(get: { value }, set: { _ in }) }
  private let value: Value
}

@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
  let get: () -> Value
  let set: (Value) -> Void
  public var wrappedValue: Value {
    get { self.get() }
    nonmutating set { set(newValue) }
  }
  public subscript<Member>(
    dynamicMember path: WritableKeyPath<Value, Member>
  ) -> Binding<Member> {
    Binding<Member>(
      get: { wrappedValue[keyPath: path] },
      set: { member in
        var value = wrappedValue
        value[keyPath: path] = member
        set(value)
      })
  }
}
