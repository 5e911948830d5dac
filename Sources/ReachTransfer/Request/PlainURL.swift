internal import ReachCore

/// The parts of an http or https URL in which nothing is encoded, left out or written in two ways.
struct PlainURL {
    let scheme: String
    let host: String
    let port: UInt16

    /// - Returns: `nil` for what must be read by libcurl's parser; that it is wrong is not said.
    init?(_ text: String) {
        var text = text
        let parts = text.withUTF8 { Self.parts(UnsafeRawBufferPointer($0)) }
        guard let parts else { return nil }
        self = parts
    }

    private init(scheme: String, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
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
        guard let host = host(text[start..<colon]) else { return nil }
        var port: UInt16 = isSecure ? 443 : 80
        if colon < slash {
            // A leading zero is left out by libcurl.
            guard text[colon + 1] != UInt8(ascii: "0"), let number = UInt16(digits: text[(colon + 1)..<slash]) else {
                return nil
            }
            port = number
        }
        return PlainURL(scheme: isSecure ? "https" : "http", host: host, port: port)
    }

    /// A name that cannot be taken for a number, or an IPv4 address as it is written by everybody.
    private static func host(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
        guard let first = bytes.first, bytes.count < 254 else { return nil }
        let isName = 97...122 ~= first
        for byte in bytes {
            switch byte {
            case 97...122, UInt8(ascii: "-"): guard isName else { return nil }
            case 48...57, UInt8(ascii: "."): break
            default: return nil
            }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if isName { return text }
        guard let address = IPAddress(text), address.description == text else { return nil }
        return text
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
