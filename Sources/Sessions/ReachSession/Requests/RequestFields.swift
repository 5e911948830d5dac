internal import HTTPTypes
internal import ReachCore
internal import ReachSerialization

// The queue keeps names and values as text that is checked where it is sent; HTTPTypes has checked fields.

extension HTTPFields {
    /// Fields of a stored request, or of a response.
    init(_ fields: [HeaderField]) {
        self.init()
        for field in fields { append(received: field.name, field.value) }
    }
}

extension [HeaderField] {
    /// Fields as they are sent.
    init(_ fields: HTTPFields) throws(RequestError) {
        do throws(HTTPHeaderError) {
            self = try fields.written().map { HeaderField($0.name, $0.value) }
        } catch {
            throw RequestError(error)
        }
    }
}

/// The fields of the last answer, as a program reads them: most answers of a server repeat them, but for the date, and
/// reading them takes longer than anything else in the delivery of a small one.
package struct FieldsMemo {
    private var last: (received: [HeaderField], read: HTTPFields)?

    package init() {}

    package mutating func read(_ received: [HeaderField]) -> HTTPFields {
        if let last, last.received.elementsEqual(received, by: { $0.hasSameBytes(as: $1) }) { return last.read }
        let read = HTTPFields(received)
        // A cookie stays no longer than its answer.
        last = received.contains { $0.isNamed("Set-Cookie") } ? nil : (received, read)
        return read
    }
}
