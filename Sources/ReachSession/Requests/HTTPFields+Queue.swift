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
