import ReachFleet
import Testing

@Suite struct NKeyTextTests {
    @Test func `texts begin as NATS's do and can be read back`() throws {
        let bytes = (0..<32).map { UInt8($0 * 7) }
        let half = NKeyText.userPublic(bytes)
        #expect(half.hasPrefix("U"))
        #expect(half.utf8.count == 56)
        #expect(try NKeyText.readUserPublic(half) == bytes)
        let seed = NKeyText.userSeed(bytes)
        #expect(seed.hasPrefix("SU"))
        #expect(seed.utf8.count == 58)
        #expect(try NKeyText.readUserSeed(seed) == bytes)
    }

    @Test func `a letter that changed is found`() throws {
        let half = NKeyText.userPublic([UInt8](repeating: 9, count: 32))
        for index in half.indices.dropFirst() {
            let other = half[index] == "A" ? "B" : "A"
            let broken = half.replacingCharacters(in: index, with: other)
            #expect(throws: NKeyText.Fault.self) { try NKeyText.readUserPublic(broken) }
        }
    }

    @Test func `a seed in place of a public half is called a secret`() {
        let seed = NKeyText.userSeed([UInt8](repeating: 9, count: 32))
        #expect(throws: NKeyText.Fault.secret) { try NKeyText.readUserPublic(seed) }
    }

    @Test func `only a text as long as a seed that begins as one is called a secret`() {
        let seed = NKeyText.userSeed([UInt8](repeating: 9, count: 32))
        for text in ["S", "SU", String(seed.dropLast()), seed + "A", "U" + String(seed.dropFirst())] {
            #expect(throws: NKeyText.Fault.malformed) { try NKeyText.readUserPublic(text) }
        }
        #expect(throws: NKeyText.Fault.malformed) { try NKeyText.readUserSeed(String(seed.dropLast())) }
    }

    @Test(arguments: NKeyKind.allCases)
    func `a key of another kind is said to be one, by the letters that it begins with`(kind: NKeyKind) throws {
        let bytes = (0..<32).map { UInt8($0 * 3) }
        let (half, seed) = (NKeyText.publicText(bytes, kind), NKeyText.seedText(bytes, kind))
        #expect(try NKeyText.readPublic(half, kind) == bytes)
        #expect(try NKeyText.readSeed(seed, kind) == bytes)
        for other in NKeyKind.allCases where other != kind {
            #expect(throws: NKeyText.Fault.otherKind(String(half.prefix(1)))) { try NKeyText.readPublic(half, other) }
            #expect(throws: NKeyText.Fault.otherKind(String(seed.prefix(2)))) { try NKeyText.readSeed(seed, other) }
        }
    }

    @Test(arguments: ["", "U", "uabc", String(repeating: "U", count: 56), String(repeating: "1", count: 56)])
    func `what is no key is refused`(_ text: String) {
        #expect(throws: NKeyText.Fault.self) { try NKeyText.readUserPublic(text) }
        #expect(throws: NKeyText.Fault.self) { try NKeyText.readUserSeed(text) }
    }
}

extension String {
    fileprivate func replacingCharacters(in index: Index, with text: String) -> String {
        String(self[..<index]) + text + String(self[self.index(after: index)...])
    }
}
