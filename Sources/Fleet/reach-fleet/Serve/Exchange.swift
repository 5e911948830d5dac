internal import CHTTPServer
internal import ReachFleet
internal import ReachLoop

/// A request that is to be answered. Only libmicrohttpd's thread uses it, but for waking it.
///
/// `@unchecked Sendable`: the pointer is valid until the stream of this exchange ends, and waking is thread-safe.
struct Exchange: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    var descriptor: CInt { reach_http_descriptor(pointer) }

    func field(_ name: String) -> String? { reach_http_field(pointer, name).map { String(cString: $0) } }

    func reply(_ status: UInt32, _ fields: [(String, String)], _ text: String) -> CInt {
        reply(status, fields + [("Content-Type", "text/plain; charset=utf-8")], ServedBytes(Array(text.utf8)))
    }

    func reply(_ status: UInt32, _ text: ServedText, _ bytes: ServedBytes) -> CInt {
        reply(status, [("Content-Type", text.type)], bytes)
    }

    private func reply(_ status: UInt32, _ fields: [(String, String)], _ bytes: ServedBytes) -> CInt {
        // One request for each connection: a place is taken for no longer than an answer takes.
        Self.withFields(fields + [("Connection", "close")]) {
            reach_http_reply(
                pointer, status, $0, bytes.buffer.baseAddress, bytes.buffer.count,
                { context in context.map { Unmanaged<ServedBytes>.fromOpaque($0).release() } },
                Unmanaged.passRetained(bytes).toOpaque())
        }
    }

    /// What all answers have: they are not kept, not framed by others, and are what their type says.
    private static let always = [
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Content-Security-Policy", "frame-ancestors 'none'"),
    ]

    static func withFields(
        _ fields: [(String, String)], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> CInt
    ) -> CInt {
        var words: [String] = []
        for (name, value) in always + fields { words += [name, value] }
        return CStrings.with(words) { array in
            array.withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: words.count + 1) { body($0) }
        }
    }
}

/// Bytes that the library reads while clients receive them: once for all of them.
final class ServedBytes: Sendable {
    nonisolated(unsafe) let buffer: UnsafeRawBufferPointer

    init(_ bytes: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        copy.copyBytes(from: bytes)
        buffer = UnsafeRawBufferPointer(rebasing: copy[..<bytes.count])
    }

    deinit { buffer.deallocate() }
}
