import ReachFleetLink
import Testing

@Suite struct SHA256Tests {
    @Test func `the hash is SHA-256 and its HMAC`() {
        // FIPS 180-4's and RFC 4231's examples.
        #expect(SHA256.digits(of: SHA256.hash(Array("abc".utf8)), bytes: 8) == "ba7816bf8f01cfea")
        #expect(
            SHA256.digits(
                of: SHA256.hash(Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)), bytes: 8)
                == "248d6a61d20638b8")
        let code = SHA256.authenticate(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(SHA256.digits(of: code, bytes: 8) == "5bdcc146bf60754e")
    }
}
