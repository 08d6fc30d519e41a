import Foundation

/* a /* nested { */ comment */
public protocol Shape: AnyObject {
    associatedtype Unit
    var area: Double { get }
    func scale(by factor: Double) -> Self
    init?(json: String)
}

@frozen public enum Kind: String, CaseIterable {
    case round, square = "sq{"
    indirect case group([Kind])

    static func parse(_ s: String) -> Kind? { Kind(rawValue: s) }
}

struct Point { var x = 0.0; var y = 0.0 }

open class Circle<T: Numeric>: NSObject {
    let text = "radius \(value(for: "r}")) {"
    let raw = #"a "quoted" { \(no)"#
    private lazy var cache: [String: T] = {
        return [:]
    }()

    public required init(radius: T) {
        super.init()
    }

    deinit { print("gone") }

    subscript(index: Int) -> T? { nil }

    class func unit() -> Circle { fatalError() }

    static func == (a: Circle, b: Circle) -> Bool { a === b }

    @discardableResult
    func draw<C: Collection>(
        on canvas: C,
        at p: Point = Point()
    ) async throws -> Bool where C.Element == T {
        return true
    }
}

extension Circle: CustomStringConvertible where T == Double {
    override var description: String { "circle" }
}

func topLevel() {}
infix operator <+>: AdditionPrecedence
actor Counter { var n = 0 }
