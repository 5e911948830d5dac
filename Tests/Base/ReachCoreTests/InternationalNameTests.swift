import ReachCore
import Testing

/// Names with letters outside ASCII, by the machine's libidn2.
@Suite struct InternationalNameTests {
    @Test(arguments: [
        ("münchen.example", "xn--mnchen-3ya.example"), ("MÜNCHEN.Example.", "xn--mnchen-3ya.example."),
        ("mu\u{308}nchen.example", "xn--mnchen-3ya.example"), ("straße.example", "xn--strae-oqa.example"),
        ("βόλος.example", "xn--nxasmm1c.example"),
        ("日本語。example", "xn--wgv71a119e.example"), ("اختبار.example", "xn--mgbachtv.example"),
        ("i❤.example", "xn--i-7iq.example"), ("✌\u{fe0f}.example", "xn--7bi.example"),
        ("a_b.ü.example", "a_b.xn--tda.example"), ("ex\u{200b}ample.example", "example.example"),
        ("क्\u{200d}ष.example", "xn--11b2ezcw70k.example"),
    ])
    func `a name is the one that browsers and curl ask for`(name: String, ascii: String) throws {
        #expect(try InternationalName.ascii(name) == ascii)
        #expect(try Target(name).subject == .name(ascii) && Target(name).description == name)
        for slips in [URLReference.Slips.refused, .allowed] {
            #expect(try URLReference("https://u@\(name):8443/ü?ü", slips: slips).authority?.host == ascii)
        }
        #expect(try URLHost(URLReference("//" + name).authority?.host ?? "")?.name == ascii)
    }

    @Test(arguments: [
        ("a\u{202e}b.example", ": string contains a disallowed character"), ("❤\u{e000}.example", ": string contains"),
        ("aא.example", ": string has forbidden bi-directional properties"), ("-ü.example", ": string start/ends with"),
        ("a\u{200d}b.example", ": string contains a forbidden context-j character"),
        ("👩\u{200d}💻.example", ": string contains"), ("straße❤.example", ": string contains a disallowed character"),
        ("xn--ü.example", ": string contains invalid punycode data"),
        (String(repeating: "ü", count: 70) + ".example", ": punycode encoded data will be too large"),
        // What these letters stand for would end the host, or begin another one.
        ("a℀b.example", ""), ("a％00.example", ""), ("ü\u{3000}.example", ""), ("ü／x", ""), ("ü：80", ""), ("ü＠b", ""),
    ])
    func `a name that libidn2 refuses, or that would become something else, is refused`(name: String, why: String) {
        let error = #expect(throws: InternationalName.Failure.self) { try InternationalName.ascii(name) }
        #expect(error?.description.hasPrefix("is not a host name" + why) == true, "\(error?.description ?? "")")
        #expect(throws: TargetError.self) { try Target(name) }
        let fault = #expect(throws: WebAddressError.self) { try URLReference("http://\(name)/", slips: .allowed) }
        #expect(fault?.fault == .internationalHost)
    }

    @Test(arguments: [" ", "/", "@", ":", "%", "\\", "\0", "\n", "[", "#", "?"])
    func `nothing but letters, digits and hyphens of ASCII reaches libidn2`(byte: String) {
        #expect(throws: InternationalName.Failure.self) { try InternationalName.ascii("ü\(byte)b.example") }
    }

    @Test func `wide digits are the digits of an address, in each reader`() throws {
        #expect(try Target("１９２.0.2.1").subject == .address(IPAddress(ipv4: 0xc000_0201), zone: nil))
        let host = try URLReference("http://１２７。１/").authority?.host ?? ""
        #expect(URLHost(host)?.address == IPAddress(ipv4: 0x7f00_0001))
    }

    @Test func `a long name costs no work`() {
        let long = String(repeating: "ü.", count: 400)
        let error = #expect(throws: InternationalName.Failure.self) { try InternationalName.ascii(long) }
        #expect(error?.description == "is too long for a host name (253 bytes)")
    }

    @Test func `both spellings are one target of a URL, and one exception from proxies`() throws {
        let (one, other) = ("https://MÜNCHEN.example/a", "https://xn--mnchen-3ya.example/b")
        #expect(try Target(one).watched == Target(other).watched)
        #expect(ProxyExclusionList("münchen.example").contain("a.xn--mnchen-3ya.example", port: 443))
        #expect(ProxyExclusionList("a℀b.example") == ProxyExclusionList(""))
    }
}
