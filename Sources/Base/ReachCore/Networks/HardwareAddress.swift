/// An address of six bytes on an Ethernet or Wi-Fi link: a MAC address, or the BSSID of an access point.
public struct HardwareAddress: Hashable, Sendable, CustomStringConvertible {
    /// The six bytes, the first of them in the highest used bits.
    package let number: UInt64

    /// - Returns: `nil` unless there are six bytes, not all of them zero or all of them 255.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else { return nil }
        let number = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        guard number != 0, number != 0xffff_ffff_ffff else { return nil }
        self.number = number
    }

    /// Reads six pairs of hexadecimal digits with colons or hyphens between them.
    package init?(_ text: String) {
        let parts = text.splitScalars(omittingEmptySubsequences: false) { $0 == ":" || $0 == "-" }
        let bytes = parts.compactMap { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { $0 != 0x2b && $0 != 0x2d } ? UInt8(part, radix: 16) : nil
        }
        guard bytes.count == parts.count else { return nil }
        self.init(bytes)
    }

    package var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: number >> (40 - 8 * $0)) } }

    /// Lower-case digits with colons, as the kernel's tools print them.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}
