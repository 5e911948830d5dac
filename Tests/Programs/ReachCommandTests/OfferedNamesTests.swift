import ReachTerminal
import Testing

@Suite struct OfferedNamesTests {
    // What may be a link's name, a target's or a probe's.
    @Test(arguments: [
        "$(touch${IFS}Z)", "`id`", "a;b", "a&b", "a|b", "a'b", "a\"b", "a\\b", "{a,b}", "*", "~", "-rf", "a\nb", "a\tb",
        "!x",
        "<x", "(x)", "[a]", "#a", "^a", "a\u{202e}", "$HOME", "",
    ])
    func `a shell is offered no value that it could run`(value: String) {
        #expect(CompletionScript.offered([value, "eth0"], shell: "bash") == ["eth0"])
        #expect(
            CompletionScript.offered(["interface:" + value], shell: "fish")
                == (["", "-rf"].contains(value) ? ["interface:" + value] : []))
    }

    @Test func `names that no shell expands are offered, to zsh without a description`() {
        let values = ["interface:eth0.10", "not wwan", "büro", "fe80::1%eth0", "wl+=wifi"]
        #expect(CompletionScript.offered(values, shell: nil) == values)
        #expect(CompletionScript.offered(["interface:eth0"], shell: "zsh") == ["interface\\:eth0"])
    }
}
