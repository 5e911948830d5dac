internal import CIdn

/// Names of hosts with letters outside ASCII. Name servers, certificates, cookies and libcurl know only their form in
/// ASCII (`xn--`), so every reader of a host turns such a name into it first.
///
/// libidn2 knows the mapping: IDNA 2008 with UTS 46, not transitional, as in browsers and curl.
package enum InternationalName {
    /// Why a name has no form in ASCII.
    package struct Failure: Error, Hashable {
        /// What continues a sentence that begins with the name.
        package let description: String
    }

    /// In bytes. A name of 253 letters in its form in ASCII takes no more.
    private static let longest = 1024

    package static func isOne(_ name: some StringProtocol) -> Bool { name.utf8.contains { $0 >= 0x80 } }

    /// The form of a name in ASCII, in lower case. It may be an address: `１９２.0.2.1` has wide digits.
    package static func ascii(_ name: some StringProtocol) throws(Failure) -> String {
        guard name.utf8.count <= longest else { throw Failure(description: "is too long for a host name (253 bytes)") }
        guard name.utf8.allSatisfy({ $0 >= 0x80 || URLCharacters.isUnreserved($0) }) else { throw refused(nil) }
        var buffer = [CChar](repeating: 0, count: 256)
        var reason: UnsafePointer<CChar>?
        let result = reach_idn_ascii(String(name), &buffer, buffer.count, &reason)
        switch Int(result) {
        case REACH_IDN_DONE: break
        case REACH_IDN_MISSING:
            throw Failure(description: "has letters outside ASCII: install libidn2, or write the name in its xn-- form")
        default: throw refused(reason.map { String(cString: $0) })
        }
        let ascii = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Some letters stand for others that end a host: "℀" for "a/c", "％" for "%".
        guard !ascii.isEmpty, ascii.utf8.allSatisfy(URLCharacters.isUnreserved) else { throw refused(nil) }
        return ascii
    }

    private static func refused(_ reason: String?) -> Failure {
        Failure(description: "is not a host name" + (reason.map { ": \($0)" } ?? ""))
    }
}
