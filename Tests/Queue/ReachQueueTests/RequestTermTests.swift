import ReachCore
import Testing

@testable import ReachQueue

/// The table of terms, from which the wire, the rows of the queue's file and the limits of calls follow.
@Suite struct RequestTermTests {
    /// Terms that are all unlike the usual ones.
    private static func unusual() throws -> RequestTerms {
        var terms = RequestTerms()
        terms.condition = try NetworkCondition("wifi, unmetered")
        terms.priority = .urgent
        terms.timeToLive = .seconds(77)
        terms.idempotency = .key("k")
        terms.orderKey = "o"
        terms.dependsOnPrevious = true
        terms.uniqueness = .unique(name: "n", mode: .appendOrReplace)
        terms.maximumAttempts = 3
        terms.isStrict = true
        terms.acceptedStatuses = [200...204, 404...404]
        terms.outputPath = "/p"
        terms.interceptor = "i"
        terms.timeouts = AttemptTimeouts(connect: .seconds(1), idle: nil, total: .seconds(9))
        terms.tag = "t"
        terms.failsOffline = true
        terms.uploadProtocol = .tus
        terms.followsRedirects = true
        terms.isCompressed = true
        terms.isOverBudget = true
        terms.joinGroup = "g"
        return terms
    }

    /// The stored properties of terms that differ, by name.
    private static func differences(_ one: RequestTerms, _ other: RequestTerms) -> [String] {
        zip(Mirror(reflecting: one).children, Mirror(reflecting: other).children).compactMap { one, other in
            "\(one.value)" == "\(other.value)" ? nil : one.label
        }
    }

    private static func copy(_ terms: RequestTerms, by table: [RequestTerm]) throws -> RequestTerms {
        var copy = RequestTerms()
        for term in table { if let value = term.write(terms) { try term.read(&copy, value) } }
        return copy
    }

    @Test func `each property of the terms is in the table, and comes back as it was written`() throws {
        let terms = try Self.unusual()
        #expect(Self.differences(terms, RequestTerms()).count == Mirror(reflecting: terms).children.count)
        #expect(try Self.copy(terms, by: RequestTerm.all) == terms)
        #expect(try Self.copy(RequestTerms(), by: RequestTerm.all) == RequestTerms())
    }

    @Test func `rows lack only what has a column of its own form, and calls what only sessions ask for`() throws {
        let terms = try Self.unusual()
        let rows = try Self.copy(terms, by: RequestTerm.stored)
        #expect(Self.differences(rows, terms) == ["condition", "priority", "timeToLive"])
        let calls = try Self.copy(terms, by: RequestTerm.all.filter { $0.parameter != nil })
        #expect(
            Self.differences(calls, terms) == [
                "outputPath", "interceptor", "timeouts", "tag", "failsOffline", "joinGroup",
            ])
    }

    @Test func `no two terms have the same parameter or column`() {
        let parameters = RequestTerm.all.compactMap(\.parameter), columns = RequestTerm.all.compactMap(\.column?.name)
        #expect(Set(parameters).count == parameters.count && Set(columns).count == columns.count)
    }

    @Test func `a word that is none is refused with its name`() {
        for term in RequestTerm.all where term.parameter == "upload_protocol" || term.parameter == "priority" {
            var terms = RequestTerms()
            #expect(throws: RequestValidationError.self) { try term.read(&terms, .text("none")) }
        }
    }
}
