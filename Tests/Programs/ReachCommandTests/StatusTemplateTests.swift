import ReachControl
import ReachCore
import ReachTesting
import Testing

@testable import reach

/// Lines in the user's form, for status bars and prompts.
@Suite struct StatusTemplateTests {
    private func line(_ format: String, _ change: (inout ReachabilityState) -> Void = { _ in }) throws -> String {
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        (state.status, state.interface, state.linkClass) = (.reachable, "eth0", .wired)
        change(&state)
        return try StatusTemplate(format).line(for: state, from: .kernel)
    }

    @Test(arguments: [
        ("{interface} {class}", "eth0 wired\n"), ("plain", "plain\n"), ("", "\n"), ("{{{interface}}}", "{eth0}\n"),
        ("%{{F#f00}}", "%{F#f00}\n"), ("[{reason}]", "[]\n"), ("{metered}", "false\n"), ("{v}", "1\n"),
        ("{metered?paid|free}", "free\n"), ("{interface?up}", "up\n"), ("{portal?log in}", "\n"),
        ("{interface:json}", "\"eth0\"\n"), ("{reason:json}", "null\n"), ("{ipv4.status}", "unknown\n"),
    ])
    func `fields, choices and braces`(format: String, wanted: String) throws {
        #expect(try line(format) == wanted)
    }

    @Test(arguments: [
        ("{interfac}", "did you mean 'interface'?"), ("{ipv4.gatewy}", "did you mean 'gateway'?"),
        ("{interface.name}", "is no field"), ("{", "without its '}'"), ("}", "without its '{'"), ("{}", "is no field"),
        (String(repeating: "x", count: 4_097), "at most 4096 bytes"),
    ])
    func `a format that cannot be read is an error that names the place`(format: String, words: String) {
        let error = #expect(throws: TemplateError.self) { try StatusTemplate(format) }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `a name from outside neither ends a text in JSON nor reaches the terminal raw`() throws {
        let odd: (inout ReachabilityState) -> Void = { $0.interface = "a\"\u{1b}b" }
        #expect(try line("{interface}", odd) == "a\"\\u{1b}b\n")
        #expect(try line("{{\"text\": {interface:json}}}", odd) == "{\"text\": \"a\\\"\\u001bb\"}\n")
    }

    @Test func `the icon follows status, proof and class`() throws {
        #expect(try line("{icon}") == "🌐\n")
        #expect(try line("{icon}") { $0.linkClass = .wifi } == "📶\n")
        #expect(try line("{icon}") { $0.connectivity = .portal } == "🚪\n")
        #expect(try line("{icon}") { $0.status = .notReachable } == "❌\n")
    }

    @Test func `every format of the recipes can be read`() throws {
        let page = ProjectFile.text("man/reach-recipes.7")
        let formats = page.matches(of: #/--format (?:'([^']*)'|"([^"]*)")/#).map { $0.1 ?? $0.2 ?? "" }
        #expect(formats.count == 6)
        for format in formats { _ = try StatusTemplate(String(format)) }
    }
}
