import ReachCore
import ReachProbe
import Testing

@Suite struct ProbeTargetTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let kind: ProbeTarget.Kind
        let host: String
        let port: UInt16
        let path: String
        var testDescription: String { text }
    }

    private static let rows: [Row] = [
        Row(text: "http://example.net", kind: .http, host: "example.net", port: 80, path: "example.net"),
        Row(text: "https://example.net/a?b#c", kind: .https, host: "example.net", port: 443, path: "example.net"),
        Row(text: "HTTPS://[2001:db8::1]:8443/", kind: .https, host: "2001:db8::1", port: 8443, path: "2001:db8::1"),
        Row(text: "http://user:pw@192.0.2.1:8080/x", kind: .http, host: "192.0.2.1", port: 8080, path: "192.0.2.1"),
        Row(
            text: "https://münchen.example/ä", kind: .https, host: "xn--mnchen-3ya.example", port: 443,
            path: "xn--mnchen-3ya.example"),
        Row(text: "tcp://192.0.2.1:22", kind: .tcp, host: "192.0.2.1", port: 22, path: "192.0.2.1"),
        Row(text: "tls://mail.example.net", kind: .tls, host: "mail.example.net", port: 443, path: "mail.example.net"),
        Row(text: "icmp://192.0.2.1", kind: .icmp, host: "192.0.2.1", port: 0, path: "192.0.2.1"),
        Row(text: "dns://192.0.2.53/example.net?type=mx", kind: .dns, host: "192.0.2.53", port: 53, path: "192.0.2.53"),
        Row(text: "dns://[2001:db8::53]:5353/a.b.", kind: .dns, host: "2001:db8::53", port: 5353, path: "2001:db8::53"),
        Row(text: "dns:example.net?class=IN;type=AAAA", kind: .dns, host: "", port: 53, path: "internet"),
    ]

    @Test(arguments: rows) private func `a URL gives kind, host, port and watched target`(_ row: Row) throws {
        let target = try ProbeTarget(row.text)
        #expect(target.kind == row.kind)
        #expect(target.hostText == row.host)
        #expect(target.port == row.port)
        #expect(target.description == row.text)
        #expect(target.reachabilityTarget.description == row.path)
    }

    @Test func `a DNS question is read from a URL according to RFC 4501`() throws {
        #expect(try ProbeTarget("dns:example.net").question?.type == .a)
        let question = try ProbeTarget("dns://192.0.2.53/_sip._tcp.example.net?type=SRV").question
        #expect(try ProbeTarget("dns:münchen.example.").question?.name == "xn--mnchen-3ya.example.")
        #expect(question?.name == "_sip._tcp.example.net" && question?.type == .srv)
    }

    @Test(arguments: [
        "", "example.net", "ftp://example.net", "http:example.net", "http://", "tcp://192.0.2.1", "tcp://192.0.2.1:0",
        "tcp://192.0.2.1:65536", "icmp://192.0.2.1:7", "tls://example.net/path", "dns://192.0.2.53", "dns:", "dns:a..b",
        "dns:example.net?type=NONE", "dns:example.net?x=y", "http://exa mple.net", "http://example.net/\r\nHost: other",
        "https://m\u{85}nchen.example", "https://m℀nchen.example", "dns:a℀b.example", "icmp:///", "tcp://:80",
        "https://" + String(repeating: "a", count: 2100),
    ])
    func `a text that is not a probe's URL is refused with a printable message`(_ text: String) {
        let error = #expect(throws: TargetError.self) { try ProbeTarget(text) }
        #expect(error?.description.utf8.allSatisfy { $0 >= 0x20 } == true)
    }

    @Test(arguments: [
        "http://example.net/a b", "http://example.net/a\r\nHost:other", "https://example.net/\t", "dns:a b.example",
        "https://example.net/\u{7f}", "https://example.net/\u{85}", "https://example.net/\u{202e}a",
    ])
    func `spaces and control characters are refused anywhere in a URL`(_ text: String) {
        let error = #expect(throws: TargetError.self) { try ProbeTarget(text) }
        #expect(error?.description.hasSuffix("' has spaces or control characters: write them as %20") == true)
    }

    @Test(arguments: [
        "icmp://192.0.2.256", "icmp:///", "tcp://exa mple:22", "tls://-a.example:443",
        "dns://[2001:db8::x]/example.net",
        "tcp://192.0.2.1:65536",
    ])
    func `an error quotes what was written`(_ text: String) {
        let error = #expect(throws: TargetError.self) { try ProbeTarget(text) }
        #expect(error?.description.hasPrefix("'\(text)' ") == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        ("fe80::1", "; try icmp://[fe80::1%eth0], with the interface of its link"),
        ("fe80::1%lo", "; try icmp://[fe80::1%lo]"),
        ("2001:db8::1", "; try icmp://[2001:db8::1]"), ("2001:db8::x", ": there are http://"),
    ])
    func `an address in place of a URL is answered with the URL that pings it`(text: String, hint: String) throws {
        let error = try #require(throws: TargetError.self) { try ProbeTarget(text) }
        #expect(error.description.hasPrefix("'\(text)' is no URL that can be probed\(hint)"), "\(error)")
        if hint.contains("icmp://["), let url = hint.split(separator: " ").last(where: { $0.hasPrefix("icmp") }) {
            _ = try ProbeTarget(String(url.prefix { $0 != "," }))
        }
    }

    @Test func `each limit admits its last value, and refuses the next`() throws {
        func isRead(_ text: String) -> Bool { (try? ProbeTargets(text)) != nil && (try? ProbeTarget(text)) != nil }
        let url = "https://example.net/"
        let path = String(repeating: "a", count: Target.longestText - url.utf8.count)
        #expect(isRead(url + path) && !isRead(url + path + "a"))
        let label = String(repeating: "a", count: 63)
        #expect(isRead("dns:\(label).example") && !isRead("dns:a\(label).example"))
        let name = [label, label, label, String(repeating: "a", count: 61)].joined(separator: ".")
        #expect(name.utf8.count == 253)
        #expect(isRead("dns:\(name)") && isRead("dns:\(name).") && !isRead("dns:\(name)a") && !isRead("dns:."))
        #expect(isRead("tcp://192.0.2.1:1") && isRead("tcp://192.0.2.1:65535"))
        #expect((try? ProbeTargets("icmp://10.0.[1-1024].example").all.count) == 1024)
        #expect((try? ProbeTargets("icmp://10.0.[0-1024].example")) == nil)
        let words = (0..<250).map { "w\($0)" }.joined(separator: ",")
        #expect(try ProbeTargets("icmp://{\(words)}.example").all.count == 250)
    }

    @Test func `a link-local address needs its interface`() throws {
        for (text, interface, isRefused) in [
            ("tcp://[fe80::1]:22", nil, true), ("icmp://[fe80::1]", nil, true), ("icmp://[fe80::1]", "eth0", false),
            ("icmp://[fe80::1%25eth0]", nil, false), ("icmp://[2001:db8::1]", nil, false),
            ("icmp://169.254.0.1", nil, false), ("dns:example.net", nil, false),
        ] as [(String, String?, Bool)] {
            let target = try ProbeTarget(text)
            do throws(TargetError) {
                try target.check(with: interface)
                #expect(!isRefused, "\(text)")
            } catch {
                #expect(isRefused && error.description.contains("as in [fe80::1%eth0] or by --interface"), "\(text)")
            }
        }
    }

    @Test func `status sets take codes, ranges and classes`() {
        #expect(
            HTTPStatusSet("2xx, 301,404-406").map { set in [200, 299, 301, 404, 406].allSatisfy(set.contains) } == true)
        #expect(HTTPStatusSet("2xx,301")?.contains(302) == false)
        for text in [
            "", "2", "6xx", "0xx", "99", "600", "300-200", "200-", "200-201-202", "2xx,", "abc", "200 404",
            "2xx 301,404", " ",
        ] {
            #expect(HTTPStatusSet(text) == nil)
        }
    }
}
