import ReachCore
import Testing

@Suite struct GlobTests {
    @Test func `a star may match again further on`() {
        #expect(Glob("a*bc").matches("abbc") && Glob("*ab").matches("aab") && Glob("v*0.1*").matches("veth0.0.1x"))
        #expect(!Glob("a*bc").matches("abcb") && !Glob("*ab").matches("aba"))
    }

    @Test(arguments: [
        ("", ""), ("*", ""), ("*", "eth0"), ("**", ""), ("eth0", "eth0"), ("eth?", "eth0"), ("eth*", "eth"),
        ("eth*", "eth0"), ("*0", "eth0"), ("e*h*0", "eth0"), ("*a*b", "aaxab"), ("*.??", "eth0.10"),
        ("*th0", "ethth0"), ("en*s?f*", "enp3s0f1np1"), ("?*", "a"), ("??", "é"), ("*", "a/b\u{1}"),
    ])
    func `the pattern matches`(pattern: String, text: String) {
        #expect(Glob(pattern).matches(text))
    }

    @Test(arguments: [
        ("", "a"), ("a", ""), ("?", ""), ("eth?", "eth"), ("eth?", "eth10"), ("eth0", "eth01"), ("eth0", "ETH0"),
        ("*0", "eth1"), ("e*h*1", "eth0"), ("*a*b", "aaxa"), ("[a-z]", "a"), ("\\*", "*a"),
    ])
    func `the pattern does not match`(pattern: String, text: String) {
        #expect(!Glob(pattern).matches(text))
    }

    @Test func `no pattern takes exponential time`() {
        let text = String(repeating: "a", count: 2_000)
        #expect(!Glob(String(repeating: "*a", count: 500) + "b").matches(text))
    }
}
