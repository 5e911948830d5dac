import Foundation
import ReachCore
import ReachTesting
import Testing

@Suite struct Base64Tests {
    // RFC 4648, section 10.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func `the RFC's examples are encoded and decoded`(plain: String, coded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == coded)
        #expect(Base64.decode(Array(coded.utf8)) == Array(plain.utf8))
    }

    @Test func `encoding and decoding agree with Foundation`() {
        var generator = SeededGenerator(seed: 3)
        for count in 0..<200 {
            let bytes = generator.bytes(count)
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.encode(bytes) == text && Base64.decode(Array(text.utf8)) == bytes)
        }
    }

    @Test(
        arguments: [
            "A", "A===", "AA=", "AA=A", "A*AA", "AAAA=", "====", "=AAA", "AAAAA", "AA", "AAA", "AAA==", "AA==AAAA",
            "AAAA====", "AA==\n", "AA =", " AA==", "A-AA", "A_AA", "ÄAA",
        ])
    func `anything except exact Base64 is refused`(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }

    @Test(arguments: ["AB==", "AP==", "AAB=", "AAD="])
    func `nonzero bits after the last byte are refused`(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}
