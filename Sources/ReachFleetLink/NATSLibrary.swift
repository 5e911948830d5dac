internal import CNats

/// The library that speaks NATS's protocol.
package enum NATSLibrary {
    /// The version of libnats, such as "3.4.1".
    package static var version: String { String(cString: nats_GetVersion()) }

    /// The library's words for the last failure on this thread, without the line of its source that they begin with
    /// ("(pub.c:92): "); `nil` if it has none.
    static var lastError: String? {
        var status = NATS_OK
        guard let words = nats_GetLastError(&status).map({ String(cString: $0) }), !words.isEmpty else { return nil }
        guard words.hasPrefix("("), let end = words.firstIndex(of: ")") else { return words }
        let rest = words[words.index(after: end)...].drop { $0 == ":" || $0 == " " }
        return rest.isEmpty ? words : String(rest)
    }
}
