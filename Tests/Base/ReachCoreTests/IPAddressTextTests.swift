import Glibc
import ReachCore
import ReachTesting
import Testing

@Suite struct IPAddressTextTests {
    /// RFC 5952, section by section: what is read, and what is written for it.
    @Test(arguments: [
        ("2001:0db8::0001", "2001:db8::1"),  // 4.1: no leading zeros
        ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),  // 4.2.1: as short as can be
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),  // 4.2.2: not for a single word
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),  // 4.2.3: the longest run
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),  // 4.2.3: the first of equals
        ("2001:DB8::ABCD", "2001:db8::abcd"),  // 4.3: lower case
        ("::ffff:c000:201", "::ffff:192.0.2.1"),  // 5: an IPv4 address in it
        ("0:0:0:0:0:0:0:0", "::"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
        ("1:0:0:0:0:0:0:0", "1::"), ("0:0:0:0:0:0:0:1", "::1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("192.0.2.1", "192.0.2.1"),
    ])
    func `addresses are written as RFC 5952 recommends`(text: String, written: String) {
        #expect(IPAddress(text)?.description == written)
    }

    @Test(arguments: [
        "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.04", "0x1.2.3.4", "1.2.3.4 ", " 1.2.3.4",
        "1..3.4", "1.2.3.", ".1.2.3", "+1.2.3.4", "-0.2.3.4", "1.2.3.4/32", "1.2.3.4\0", "١.٢.٣.٤", "4294967295",
        ":", ":::", "::::", "1::2::3", ":1::", "1::2:", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7:8",
        "12345::", "::g", "::+1", "::-1", "::-0", "-0::", "::1.2.3", "::1.2.3.4:5", "1.2.3.4::", "::01.2.3.4",
        "fe80::1%eth0", "[::1]", "::1/128", "::1 ", "1:2:3:4:5:6:7:1.2.3.4", ":\u{301}:1", "::\u{ff11}",
    ])
    func `anything else is no address`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `a very long text is refused`() {
        #expect(IPAddress(String(repeating: "1:", count: 1_000_000)) == nil)
    }

    private func systemReads(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isIPv6 = text.contains(":")
        guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        return isIPv6 ? bytes : Array(bytes.prefix(4))
    }

    private func systemWrites(_ address: IPAddress) -> String {
        var text = [CChar](repeating: 0, count: 64)
        inet_ntop(address.family == .ipv4 ? AF_INET : AF_INET6, address.bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    @Test func `a hundred thousand odd texts are read or refused as inet_pton does`() {
        var random = SeededGenerator(seed: 1)
        let words = [
            "0", "1", "00", "ffff", "0db8", "12345", "g", "-0", "+1", "A", "255", "256", "1.2.3.4", "01.2.3.4", "",
        ]
        let marks = [":", ":", ":", "::", ".", ":::", "", " ", "%", "/"]
        var accepted = 0
        var disagreements: [String] = []
        for _ in 0..<100_000 {
            var text = random.oneIn(4) ? "::" : ""
            for _ in 0..<Int.random(in: 1...9, using: &random) {
                // Mostly well formed, because otherwise almost nothing would be accepted.
                text +=
                    random.oneIn(12)
                    ? random.pick(words) : String(UInt16.random(in: 0...999, using: &random), radix: 16)
                text += random.oneIn(12) ? random.pick(marks) : ":"
            }
            if random.oneIn(2) { text.removeLast() }
            if random.oneIn(3) { text = text.split(separator: ":").joined(separator: ".") }
            let read = IPAddress(text)
            if read?.bytes != systemReads(text) { disagreements.append(text) }
            accepted += read == nil ? 0 : 1
        }
        #expect(disagreements == [])
        #expect(accepted > 1000, "a part of the texts must be valid")
    }

    @Test func `every address is read back from its text, by us and by the system`() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<20_000 {
            var bytes = random.bytes(random.oneIn(4) ? 4 : 16)
            // Runs of zeros, which `::` abbreviates.
            for index in bytes.indices where random.oneIn(2) { bytes[index & ~1] = 0 }
            for index in bytes.indices where random.oneIn(3) { bytes[index] = 0 }
            guard let address = IPAddress(bytes: bytes) else {
                Issue.record("\(bytes)")
                continue
            }
            #expect(IPAddress(address.description) == address)
            #expect(systemReads(address.description) == bytes)
            // glibc also writes ::1.2.3.4, a form that RFC 4291 deprecates.
            if address.family == .ipv4 || !bytes.starts(with: [UInt8](repeating: 0, count: 10)) {
                #expect(systemWrites(address) == address.description)
            }
        }
    }
}
