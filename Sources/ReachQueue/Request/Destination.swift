package import ReachCore

/// Where a request goes: what limits, breakers and budgets are kept for. Scheme, host and port.
package struct Destination: Hashable, Sendable, CustomStringConvertible {
    /// `https://example.net:443`: scheme and host in lower case, the port always there.
    package let description: String

    /// The destination that was ``description`` before. For what comes back from the queue's file.
    package init(stored description: String) { self.description = description }

    /// - Throws: ``RequestMistake`` for what is no URL of a host, or of another scheme than `http` and `https`.
    package init(url: String) throws(RequestMistake) {
        let utf8 = Array(url.utf8)
        guard utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw Self.fault(url, "has characters that a URL cannot have: write them as %XX")
        }
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8[colon...].starts(with: "://".utf8) else {
            throw Self.fault(url, "is not a URL such as https://example.net/")
        }
        let scheme = String(decoding: utf8[..<colon], as: UTF8.self).lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Self.fault(url, "is neither http nor https")
        }
        let authority = utf8[(colon + 3)...].prefix { !"/?#\\".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw Self.fault(url, "holds a user name: put credentials into a header")
        }
        let (host, port) = try Self.split(authority, in: url)
        description = "\(scheme)://\(host.lowercased()):\(port ?? (scheme == "http" ? 80 : 443))"
    }

    /// Whoever answers has proved to be the destination.
    package var isSecure: Bool { description.hasPrefix("https:") }

    /// The host as a target: what `reachable` asks about.
    package var target: Target? { try? Target(description) }

    private static func split(
        _ authority: ArraySlice<UInt8>, in url: String
    ) throws(RequestMistake) -> (host: String, port: UInt16?) {
        var host = authority
        var port: UInt16?
        let afterBracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: UInt8(ascii: ":")) {
            host = authority[..<colon]
            let digits = String(decoding: authority[(colon + 1)...], as: UTF8.self)
            if !digits.isEmpty {
                guard let number = UInt16(digits), number > 0, digits.utf8.allSatisfy({ 48...57 ~= $0 }) else {
                    throw fault(url, "has a port that is no number from 1 to 65535")
                }
                port = number
            }
        }
        let text = String(decoding: host, as: UTF8.self)
        do throws(TargetError) {
            _ = try Target.host(text)
        } catch {
            throw RequestMistake(.url, error.description)
        }
        return (text, port)
    }

    private static func fault(_ url: String, _ what: String) -> RequestMistake {
        let shown = url.count > 64 ? url.prefix(64) + "..." : url[...]
        return RequestMistake(.url, "'\(DisplayText.sanitized(String(shown)))' \(what)")
    }
}
