import ReachCore
import ReachTerminal
import Testing

@Suite struct UsageMessageTests {
    @Test func `an error is one line with the program's name, and where there is help`() {
        let full = """
            Error: Unknown option '--x'
            Did you mean '--y'?
            Help:  --y  Something.
            Usage: reach wait [--y] [<target>]
              See 'reach wait --help' for more information.
            """
        #expect(
            UsageMessage.short(full, program: "reach") == """
                reach: Unknown option '--x'
                Did you mean '--y'?
                See 'reach wait --help' for more information.
                """)
        #expect(UsageMessage.short("OVERVIEW: x", program: "reach") == "OVERVIEW: x")
    }

    @Test(arguments: [
        ("Unknown option '-V'", [], "Unknown option '-V'; did you mean '--version'?"),
        ("Unknown option '--versoin'", [], "Unknown option '--versoin'; did you mean '--version'?"),
        ("Unknown option '--colour'", [], "Unknown option '--colour'"),
        (
            "Missing value for '--timeout <duration>'", ["wait", "--timeout", "-5"],
            "Missing value for '--timeout <duration>': '-5' begins like an option"
        ),
        (
            "Missing value for '--timeout <duration>'", ["wait", "--timeout"],
            "Missing value for '--timeout <duration>'"
        ),
        (
            "Value to be set with flag '--html' had already been set with flag '--json'", [],
            "--json and --html exclude each other"
        ),
    ])
    func `a sentence of the parser's says what was probably meant`(sentence: String, words: [String], said: String) {
        #expect(UsageMessage.short("Error: " + sentence, program: "reach", words: words) == "reach: " + said)
    }

    @Test func `only a usage line that is too long is wrapped, and what is in brackets stays together`() {
        let short = "OVERVIEW: " + String(repeating: "x", count: 90) + "\n\nUSAGE: a [--b]\n"
        #expect(UsageMessage.wrapped(short) == short)
        #expect(
            UsageMessage.wrapped("USAGE: aaaa [--bb <c>] [--dd] <ee>", width: 20) == """
                USAGE: aaaa
                         [--bb <c>]
                         [--dd] <ee>
                """)
        #expect(UsageMessage.wrapped("USAGE: aaaa bbb", width: 15) == "USAGE: aaaa bbb")
        #expect(UsageMessage.wrapped("USAGE: aaaa bbb", width: 14) == "USAGE: aaaa\n         bbb")
    }
}
