import Testing

@testable import ReachCore

@Suite struct ASCIITests {
    @Test func `letters and digits are those of ASCII`() {
        let found = (UInt8.min...UInt8.max).filter(\.isLetterOrDigit)
        let characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        #expect(found == Array(characters.utf8))
    }

    @Test(arguments: [
        ("", ""), (" \t ", ""), ("a", "a"), (" a b\t", "a b"), ("\ta", "a"), ("a ", "a"), ("\na ", "\na"),
        (" \u{a0}a", "\u{a0}a"),
    ])
    func `only spaces and tabs around a text are left out`(text: String, trimmed: Substring) {
        #expect(text[...].trimmed == trimmed)
    }
}
