internal import ReachCore

/// The parts of an http or https URL in which nothing is encoded, left out or written in two ways.
struct PlainURL {
    let scheme: String
    let host: String
    let port: UInt16
    /// The host, if it is one.
    let address: IPAddress?

    /// - Returns: `nil` for what must be read by libcurl's parser; that it is wrong is not said.
    init?(_ text: String) {
        var text = text
        let parts = text.withUTF8 { Self.parts(UnsafeRawBufferPointer($0)) }
        guard let parts else { return nil }
        self = parts
    }

    private init(scheme: String, host: String, port: UInt16, address: IPAddress?) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.address = address
    }

    private static func parts(_ text: UnsafeRawBufferPointer) -> PlainURL? {
        let isSecure: Bool
        if text.starts(with: "http://".utf8) {
            isSecure = false
        } else if text.starts(with: "https://".utf8) {
            isSecure = true
        } else {
            return nil
        }
        let start = isSecure ? 8 : 7
        guard let slash = text[start...].firstIndex(of: UInt8(ascii: "/")), isPlain(path: text[slash...]) else {
            return nil
        }
        let colon = text[start..<slash].firstIndex(of: UInt8(ascii: ":")) ?? slash
        let hostBytes = text[start..<colon]
        let address = address(hostBytes)
        guard address != nil || isName(hostBytes) else { return nil }
        var port: UInt16 = isSecure ? 443 : 80
        if colon < slash {
            // A leading zero is left out by libcurl.
            guard text[colon + 1] != UInt8(ascii: "0"), let number = UInt16(digits: text[(colon + 1)..<slash]) else {
                return nil
            }
            port = number
        }
        return PlainURL(
            scheme: isSecure ? "https" : "http", host: String(decoding: hostBytes, as: UTF8.self), port: port,
            address: address)
    }

    /// One that cannot be taken for a number.
    private static func isName(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let first = bytes.first, 97...122 ~= first, bytes.count < 254 else { return false }
        return bytes.allSatisfy {
            97...122 ~= $0 || 48...57 ~= $0 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
    }

    /// An IPv4 address as everybody writes it: four decimal numbers without leading zeros.
    private static func address(_ bytes: Slice<UnsafeRawBufferPointer>) -> IPAddress? {
        var (bits, number, digits, dots): (UInt32, UInt32, Int, Int) = (0, 0, 0, 0)
        for byte in bytes {
            if byte == UInt8(ascii: ".") {
                guard digits > 0 else { return nil }
                (bits, number, digits, dots) = (bits << 8 | number, 0, 0, dots + 1)
                guard dots < 4 else { return nil }
            } else {
                guard 48...57 ~= byte, digits == 0 || number > 0 else { return nil }
                (number, digits) = (number * 10 + UInt32(byte - 48), digits + 1)
                guard number < 256 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? IPAddress(ipv4: bits << 8 | number) : nil
    }

    /// Path and query of characters that stand for themselves; without dots at the beginning of a part, which libcurl
    /// resolves, and without an empty query, which it leaves out.
    private static func isPlain(path: Slice<UnsafeRawBufferPointer>) -> Bool {
        var previous: UInt8 = 0
        for byte in path {
            switch byte {
            case 97...122, 65...90, 48...57: break
            case UInt8(ascii: "."): guard previous != UInt8(ascii: "/") else { return false }
            case UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "="),
                UInt8(ascii: "&"), UInt8(ascii: "?"), UInt8(ascii: ","), UInt8(ascii: "+"):
                break
            default: return false
            }
            previous = byte
        }
        return previous != UInt8(ascii: "?")
    }
}

extension UInt16 {
    /// One to five decimal digits.
    fileprivate init?(digits: Slice<UnsafeRawBufferPointer>) {
        guard 1...5 ~= digits.count else { return nil }
        var number = 0
        for byte in digits {
            guard 48...57 ~= byte else { return nil }
            number = number * 10 + Int(byte - 48)
        }
        guard let port = UInt16(exactly: number) else { return nil }
        self = port
    }
}
