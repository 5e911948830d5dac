internal import ReachCore
internal import ReachLoop

/// Keys that no one else gives: UUIDs of version 7 (RFC 9562, 5.7), the time first and then chance.
package enum UniqueKey {
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return make(
            milliseconds: UInt64(clamping: SystemClock.now.wall.nanosecondsSince1970 / 1_000_000), using: &generator)
    }

    static func make(milliseconds: UInt64, using generator: inout some RandomNumberGenerator) -> String {
        let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0...0xfff, using: &generator)
        let low = UInt64(0b10) << 62 | generator.next() >> 2
        let digits = hexadecimal(high) + hexadecimal(low)
        let groups = [8, 4, 4, 4, 12]
        var rest = digits[...]
        return groups.map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }.joined(separator: "-")
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
