import ReachCore
import Testing

@testable import reach

@Suite struct WaitTermsTests {
    @Test func `answers and probes stand beside conditions of the path`() throws {
        let terms = try WaitTerms("unmetered, answers,probe=shop,  not wwan")
        #expect(terms.answers && terms.probes == ["shop"])
        #expect(terms.condition == (try NetworkCondition("unmetered, not wwan")))
        let alone = try WaitTerms("answers")
        #expect(alone.condition == nil && alone.answers)
    }

    @Test(arguments: [
        ("probe=", "names no probe"), ("answer", "did you mean 'answers'"),
        ("answers,not-reachable", "exclude each other"),
        ("answers,", "is not a condition"), ("answers, unmeterd", "unmetered"),
    ])
    func `a mistake is named`(text: String, part: String) {
        let error = #expect(throws: NetworkConditionError.self) { try WaitTerms(text) }
        #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("https://shop.example.org/x", "https://shop.example.org/x"), ("tls://192.0.2.7", "tls://192.0.2.7"),
        ("shop.example.org:8443", "tcp://shop.example.org:8443"), ("[2001:db8::7]:22", "tcp://[2001:db8::7]:22"),
        ("192.0.2.7:22", "tcp://192.0.2.7:22"), ("192.0.2.7", "icmp://192.0.2.7"),
        ("2001:db8::7", "icmp://[2001:db8::7]"),
        ("shop.example.org", "icmp://shop.example.org"),
        ("dns://192.0.2.53/shop.example.org", "dns://192.0.2.53/shop.example.org"),
        ("dns:shop.example.org", "dns:shop.example.org"),
    ])
    func `a target is asked as it is written`(text: String, question: String) throws {
        #expect(try WaitTarget(text).question == question)
    }

    @Test(arguments: ["internet", "interface:eth7", "192.0.2.0/24"])
    func `what is no host cannot be asked`(text: String) throws {
        let target = try WaitTarget(text)
        #expect(throws: CommandError.self) { try target.question }
    }

    @Test func `only a URL or a port looks as if it were tested`() throws {
        #expect(try WaitTarget("https://shop.example.org/").namesService)
        #expect(try WaitTarget("shop.example.org:22").namesService)
        #expect(try !WaitTarget("shop.example.org").namesService && !WaitTarget.internet.namesService)
    }
}
