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
