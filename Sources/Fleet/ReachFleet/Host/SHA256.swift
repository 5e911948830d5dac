/// The hash SHA-256 (FIPS 180-4), for identities that say nothing about what they are made of.
package enum SHA256 {
    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        padded += bytes(of: UInt64(message.count) * 8)
        for start in stride(from: 0, to: padded.count, by: 64) { process(padded[start..<start + 64], &state) }
        return state.flatMap(bytes)
    }

    /// HMAC (RFC 2104).
    package static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var key = key.count > 64 ? hash(key) : key
        key += [UInt8](repeating: 0, count: 64 - key.count)
        return hash(key.map { $0 ^ 0x5c } + hash(key.map { $0 ^ 0x36 } + message))
    }

    /// The first bytes as hexadecimal digits.
    package static func digits(of hash: [UInt8], bytes: Int) -> String {
        hash.prefix(bytes).reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private static func process(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
        var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (near, far) = (words[index - 2], words[index - 15])
            let first = rotated(near, 17) ^ rotated(near, 19) ^ near >> 10
            let second = rotated(far, 7) ^ rotated(far, 18) ^ far >> 3
            words.append(words[index - 16] &+ second &+ words[index - 7] &+ first)
        }
        var round = state
        for index in 0..<64 {
            let choice = (round[4] & round[5]) ^ (~round[4] & round[6])
            let majority = (round[0] & round[1]) ^ (round[0] & round[2]) ^ (round[1] & round[2])
            let upper = rotated(round[4], 6) ^ rotated(round[4], 11) ^ rotated(round[4], 25)
            let lower = rotated(round[0], 2) ^ rotated(round[0], 13) ^ rotated(round[0], 22)
            let sum = round[7] &+ upper &+ choice &+ constants[index] &+ words[index]
            round = [sum &+ lower &+ majority] + round[0..<3] + [round[3] &+ sum] + round[4..<7]
        }
        for index in 0..<8 { state[index] &+= round[index] }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
