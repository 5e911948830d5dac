import ReachCore
import Testing

struct TranslationPrefixTests {
    @Test(arguments: [
        ("64:ff9b::c000:aa", "64:ff9b::c633:6401", "64:ff9c::c633:6401"),
        ("fd00:64::c000:ab", "fd00:64::102:304", "fd00:65::102:304"),
        // The examples of RFC 6052, section 2.4, with 192.0.0.170.
        ("2001:db8:c000:aa::", "2001:db8:102:304::", "2001:db9:102:304::"),
        ("2001:db8:1c0:0:aa::", "2001:db8:101:203:4::", "2001:db8:201:203:4::"),
        ("2001:db8:122:c000:0:aa00::", "2001:db8:122:102:3:400::", "2001:db8:123:102:3:400::"),
        ("2001:db8:122:3c0:0:aa::", "2001:db8:122:301:2:304::", "2001:db8:122:401:2:304::"),
        ("2001:db8:122:344:c0:0:aa00::", "2001:db8:122:344:1:203:400::", "2001:db8:122:345:1:203:400::"),
    ])
    func `the prefix is that of the name that has IPv4 addresses only`(
        answer: String, inside: String, outside: String
    ) throws {
        let known = try #require(IPAddress(answer))
        let prefix = try #require(TranslationPrefix(known))
        #expect(prefix.contains(try #require(IPAddress(inside))))
        #expect(!prefix.contains(try #require(IPAddress(outside))))
    }

    @Test(arguments: ["fd00::1", "192.0.0.170", "2001:db8::1"])
    func `an address that stands for none of the name's has no prefix`(answer: String) throws {
        let address = try #require(IPAddress(answer))
        #expect(TranslationPrefix(address) == nil)
    }
}
