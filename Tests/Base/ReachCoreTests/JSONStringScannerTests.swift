import Testing

@testable import ReachCore

@Suite struct JSONStringScannerTests {
    /// What a terminal obeys, or what turns the direction of what follows.
    private static let hidden: [([UInt8], UInt32)] = [
        ([0xc2, 0x80], 0x80), ([0xc2, 0x9f], 0x9f), ([0xd8, 0x9c], 0x61c), ([0xe2, 0x80, 0x8e], 0x200e),
        ([0xe2, 0x80, 0x8f], 0x200f), ([0xe2, 0x80, 0xa8], 0x2028), ([0xe2, 0x80, 0xae], 0x202e),
        ([0xe2, 0x81, 0xa6], 0x2066), ([0xe2, 0x81, 0xa9], 0x2069),
    ]

    @Test(arguments: hidden) func `a hidden character is found where it stands`(bytes: [UInt8], number: UInt32) {
        (Array("ab".utf8) + bytes).withUnsafeBytes { text in
            let found = JSONStringScanner.hiddenScalar(in: text, at: 2)
            #expect(found?.number == number && found?.length == bytes.count)
            #expect(JSONStringScanner.firstEscape(in: text, from: 0) == 2)
            #expect(JSONStringScanner.firstSpecial(in: text, from: 0) == text.count)
        }
    }

    @Test(arguments: hidden)
    func `of a character that is cut off nothing is read behind the end`(bytes: [UInt8], number: UInt32) {
        bytes.withUnsafeBytes { whole in
            for length in 1..<bytes.count {
                let text = UnsafeRawBufferPointer(rebasing: whole[..<length])
                #expect(JSONStringScanner.hiddenScalar(in: text, at: 0) == nil, "\(length) of \(bytes)")
            }
        }
    }

    @Test(
        arguments: [
            [0xc2, 0xa0], [0xc2, 0x7f], [0xc3, 0x80], [0xd8, 0x9d], [0xe2, 0x80, 0x8d], [0xe2, 0x80, 0x90],
            [0xe2, 0x80, 0xa7], [0xe2, 0x80, 0xaf], [0xe2, 0x81, 0xa5], [0xe2, 0x81, 0xaa], [0xe3, 0x80, 0xa8],
        ] as [[UInt8]])
    func `a character beside a hidden one is shown`(bytes: [UInt8]) {
        bytes.withUnsafeBytes { #expect(JSONStringScanner.hiddenScalar(in: $0, at: 0) == nil) }
    }
}
