import ReachCore
import Testing

@testable import ReachProbe

/// Ranges and lists in the URL of a probe.
@Suite struct ProbeTargetsTests {
    @Test(arguments: [
        ("icmp://192.0.2.1", [("", "icmp://192.0.2.1")]),
        (
            "icmp://192.0.2.[9-11]",
            [("9", "icmp://192.0.2.9"), ("10", "icmp://192.0.2.10"), ("11", "icmp://192.0.2.11")]
        ),
        ("icmp://pc[08-10].lan", [("08", "icmp://pc08.lan"), ("09", "icmp://pc09.lan"), ("10", "icmp://pc10.lan")]),
        (
            "tcp://{www,mail}.example.net:443",
            [("www", "tcp://www.example.net:443"), ("mail", "tcp://mail.example.net:443")]
        ),
        (
            "tcp://192.0.2.[1-2]:{80,443}",
            [
                ("1-80", "tcp://192.0.2.1:80"), ("1-443", "tcp://192.0.2.1:443"), ("2-80", "tcp://192.0.2.2:80"),
                ("2-443", "tcp://192.0.2.2:443"),
            ]
        ),
        ("tcp://[2001:db8::1]:80", [("", "tcp://[2001:db8::1]:80")]),
        ("tcp://[2001:db8::[1-2]]:80", [("1", "tcp://[2001:db8::1]:80"), ("2", "tcp://[2001:db8::2]:80")]),
        ("icmp://192.0.2.[7-7]", [("7", "icmp://192.0.2.7")]),
    ])
    func `each target is made, with what is different`(text: String, wanted: [(String, String)]) throws {
        let targets = try ProbeTargets(text)
        #expect(targets.description == text)
        #expect(targets.all.map(\.suffix) == wanted.map(\.0))
        #expect(targets.all.map(\.target.description) == wanted.map(\.1))
    }

    @Test(arguments: [
        ("icmp://192.0.2.[20-1]", "counts up"), ("icmp://192.0.2.[1-70000]", "counts up"),
        ("icmp://10.[0-255].[0-255].1", "more than 1024"), ("icmp://10.0.[0-1999].1", "more than 1024"),
        ("tcp://{a,a}.lan:1", "names a word twice"), ("tcp://{a,,b}.lan:1", "is no list"),
        ("tcp://{a,/}.lan:1", "is no list"),
        ("icmp://192.0.2.[1-", "is not a host name"), ("udp://192.0.2.[1-2]", "is no URL that can be probed"),
        ("icmp://" + String(repeating: "{a,b}", count: 2_000), "longer than"),
    ])
    func `what is no range or list is an error that names it`(text: String, words: String) {
        let error = #expect(throws: TargetError.self) { try ProbeTargets(text) }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }
}
