import ReachCore
import ReachTesting
import Testing

/// The values by which networks are told apart.
@Suite struct NetworkNameTests {
    @Test(arguments: [
        ("home", "home"), ("Café", "Café"), ("a b", "a b"), ("back\\\\slash", "back\\\\slash"), ("\\x00a", "\\x00a"),
        ("\\x41", "A"), ("家", "家"),
    ])
    func `a name of a Wi-Fi network is read and written in one form`(text: String, written: String) {
        #expect(SSID(text)?.description == written)
    }

    @Test(arguments: ["", "\\", "\\x", "\\x4", "\\xzz", "\\x+1", "\\n", "123456789012345678901234567890123", "\\x00"])
    func `a text that is no name of a Wi-Fi network is refused`(text: String) { #expect(SSID(text) == nil) }

    @Test(
        arguments: [
            ([0x1b, 0x5d, 0x30], "\\x1b]0"), ([0xc2, 0x85, 0x41], "\\xc2\\x85A"),
            ([0xe2, 0x80, 0xae], "\\xe2\\x80\\xae"),
            ([0xe2, 0x80, 0x8b], "\\xe2\\x80\\x8b"), ([0xc3, 0x28], "\\xc3("), ([0xf0, 0x9f], "\\xf0\\x9f"),
            ([0xc2, 0xa0], "\\xc2\\xa0"), ([0xed, 0xa0, 0x80], "\\xed\\xa0\\x80"), ([0x41, 0x0a], "A\\x0a"),
        ] as [([UInt8], String)])
    func `bytes that are no text, and characters that no one sees, are shown as numbers`(bytes: [UInt8], text: String) {
        #expect(SSID(bytes)?.description == text)
    }

    @Test func `any name is read back from its text, and two names have two texts`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let parts: [UInt8] = [
                0x00, 0x1b, 0x20, 0x41, 0x5c, 0x78, 0x80, 0xc3, 0xa9, 0xe2, 0x80, 0x8b, 0xf0, 0x9f, 0xff,
            ]
            let bytes = (0..<Int.random(in: 1...32, using: &random)).map { _ in random.pick(parts) }
            guard let ssid = SSID(bytes) else { continue }
            #expect(SSID(ssid.description) == ssid, "\(bytes)")
            #expect(ssid.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
        }
    }

    @Test func `hardware addresses are six bytes, and neither none nor all`() {
        #expect(HardwareAddress("02:00:00:00:0A:ff")?.description == "02:00:00:00:0a:ff")
        #expect(HardwareAddress("02-00-00-00-0a-ff")?.bytes == [2, 0, 0, 0, 10, 255])
        for text in [
            "", "02:00:00:00:0a", "02:00:00:00:0a:ff:00", "2:0:0:0:0:1", "02:00:00:00:0a:fg", "02:00:00:00:0a:+1",
            "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff",
        ] { #expect(HardwareAddress(text) == nil, "\(text)") }
        #expect(HardwareAddress([UInt8](repeating: 1, count: 20)) == nil, "InfiniBand")
    }

    @Test func `the hash is the one of its authors`() {
        // The vectors of the reference implementation: keys and messages that count up.
        let key: (low: UInt64, high: UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        #expect(SipHash.hash([], key: key) == 0x726f_db47_dd0e_0e31)
        #expect(SipHash.hash([0], key: key) == 0x74f8_39c5_93dc_67fd)
        #expect(SipHash.hash(Array(0..<7), key: key) == 0xab02_00f5_8b01_d137)
        #expect(SipHash.hash(Array(0..<8), key: key) == 0x93f5_f579_9a93_2462)
        #expect(SipHash.hash(Array(0..<15), key: key) == 0xa129_ca61_49be_45e5)
        #expect(SipHash.hash(Array(0..<63), key: key) == 0x958a_324c_eb06_4572)
    }

    @Test(
        arguments: [
            ([0x0002], 0x10, WirelessSecurity.wpa2), ([0x0006], 0x10, .wpa2), ([0x0008], 0x10, .wpa3),
            ([0x0002, 0x0008], 0x10, .wpa2wpa3), ([0x0001], 0x10, .enterprise), ([0x000c], 0x10, .enterprise),
            ([0x0012], 0x10, .owe),
        ] as [([UInt8], UInt16, WirelessSecurity)])
    func `the protection of a network follows from its suites`(
        suites: [UInt8], capabilities: UInt16, expected: WirelessSecurity
    ) {
        let list: [UInt8] = suites.flatMap { suite -> [UInt8] in [0x00, 0x0f, 0xac, suite] }
        let body: [UInt8] = [1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, UInt8(suites.count), 0] + list
        let elements: [UInt8] = [0, 1, 0x61, 48, UInt8(body.count)] + body
        #expect(WirelessSecurity(elements: elements, capabilities) == expected)
        for length in 0..<elements.count {
            _ = WirelessSecurity(elements: Array(elements.prefix(length)), capabilities)
        }
    }

    /// IEEE 802.11-2024, table 9-190: the protection for each number of a suite; `nil` for one that is reserved.
    private static let suites: [WirelessSecurity?] = [
        nil, .enterprise, .wpa2, .enterprise, .wpa2, .enterprise, .wpa2, nil, .wpa3, .wpa3, nil, .enterprise,
        .enterprise, .enterprise, .enterprise, .enterprise, .enterprise, .enterprise, .owe, .wpa2, .wpa2, nil,
        .enterprise, .enterprise, .wpa3, .wpa3,
    ]

    @Test(arguments: Array(suites.enumerated())) func `each number of a suite has its protection`(
        number: Int, expected: WirelessSecurity?
    ) {
        let ciphers: [UInt8] = [0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4]
        let body: [UInt8] = [1, 0] + ciphers + [1, 0, 0, 0x0f, 0xac, UInt8(number)]
        #expect(
            WirelessSecurity(elements: [48, UInt8(body.count)] + body, 0x11) == expected ?? .wpa2,
            "a suite that is not known counts as WPA2")
    }

    @Test func `without suites a network is open, or as old as WEP or WPA`() {
        #expect(WirelessSecurity(elements: [0, 1, 0x61], 0x0001) == .open)
        #expect(WirelessSecurity(elements: [0, 1, 0x61], 0x0011) == .wep)
        #expect(WirelessSecurity(elements: [221, 4, 0, 0x50, 0xf2, 1], 0x0011) == .wpa)
        #expect(WirelessSecurity(elements: [221, 4, 0, 0x50, 0xf2, 4], 0x0001) == .open, "WPS")
        #expect(WirelessSecurity(elements: [48, 200, 1], 0x0001) == .open, "an element that is longer than the rest")
    }
}
