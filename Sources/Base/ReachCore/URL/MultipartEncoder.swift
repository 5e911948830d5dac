/// What stands around the parts of a multipart body (RFC 2046, 5.1). A part's bytes follow its head.
///
///     --BOUNDARY CRLF fields CRLF CRLF bytes
///     CRLF --BOUNDARY CRLF fields CRLF CRLF bytes
///     CRLF --BOUNDARY-- CRLF
package struct MultipartEncoder {
    package let boundary: String
    private var isFirst = true

    package init(boundary: String) { self.boundary = boundary }

    /// What stands before the bytes of the next part.
    ///
    /// - Parameter fields: Names, and values as they are sent, without line ends.
    package mutating func head(_ fields: [(name: String, value: [UInt8])]) -> [UInt8] {
        var head = Array("\(isFirst ? "" : "\r\n")--\(boundary)\r\n".utf8)
        isFirst = false
        for field in fields { head += Array("\(field.name): ".utf8) + field.value + "\r\n".utf8 }
        return head + "\r\n".utf8
    }

    /// What follows the last part.
    package var end: [UInt8] { Array("\r\n--\(boundary)--\r\n".utf8) }

    /// The value of Content-Disposition in a form (RFC 7578, 4.2).
    package static func disposition(name: String, fileName: String?) -> String {
        "form-data; name=\"\(escaped(name))\"" + (fileName.map { "; filename=\"\(escaped($0))\"" } ?? "")
    }

    /// Escapes a text as the HTML standard's "multipart/form-data encoding algorithm" does, and NUL, so that it cannot
    /// end its field.
    package static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0, 0x0a, 0x0d, UInt8(ascii: "\""): URLCharacters.appendEscape(of: byte, to: &bytes)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
