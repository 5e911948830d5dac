public import HTTPTypes
internal import ReachCore

/// A part of an answer of several parts, such as a picture of a camera's `multipart/x-mixed-replace`.
public struct ResponsePart: Hashable, Sendable {
    /// The fields of the part.
    public let headers: HTTPFields
    /// The bytes of the part.
    public let body: [UInt8]

    /// Creates a part, for tests of the code that handles it.
    public init(headers: HTTPFields = [:], body: [UInt8]) { (self.headers, self.body) = (headers, body) }
}

/// Reads the parts of a multipart body (RFC 2046, 5.1.1) that arrives in pieces.
///
/// A part ends before the boundary of the next one. One that names its `Content-Length` is passed on when so many bytes
/// are there: the boundary after it comes with the next picture only.
package struct MultipartReader: Sendable {
    private enum Place: Hashable, Sendable {
        /// At the first byte. Some cameras send no boundary before the first picture.
        case start
        /// Before a boundary, in bytes that belong to no part.
        case outside
        case head
        case body(HTTPFields, length: Int?)
        case end
    }

    /// The boundaries as lines begin. Cameras give the whole line as the boundary, hyphens included.
    private let marks: [[UInt8]]
    /// The most bytes after a boundary in its line.
    private static let longestPadding = 1000
    private let limit: Int
    private var place = Place.start
    private var bytes: [UInt8] = []
    /// Where a line begins that may be a boundary: the bytes before were searched.
    private var searched = 0
    /// No line ends before this place, from ``searched`` on: a part may have no line, and come in many pieces.
    private var scanned = 0

    /// - Parameters:
    ///   - boundary: The parameter of the content type.
    ///   - limit: The longest part in bytes, with its head.
    package init(boundary: String, limit: Int) {
        let text = Array(boundary.utf8)
        marks = [Array("--".utf8) + text] + (text.starts(with: "--".utf8) ? [text] : [])
        self.limit = limit
    }

    /// Adds the next bytes.
    ///
    /// - Returns: The parts that are complete.
    /// - Throws: An error if a part exceeds the limit.
    package mutating func append(_ piece: some Sequence<UInt8>) throws(PartTooLong) -> [ResponsePart] {
        bytes += piece
        var parts: [ResponsePart] = []
        while step(&parts) {}
        guard bytes.count <= limit else { throw PartTooLong(limit: limit) }
        return parts
    }

    /// - Returns: Whether there may be more in the bytes that are here.
    private mutating func step(_ parts: inout [ResponsePart]) -> Bool {
        switch place {
        case .end:
            bytes = []
            return false
        case .start:
            guard let line = line(from: 0) else { return false }
            let isField = String(decoding: bytes[..<line.end].prefix(8), as: UTF8.self).lowercased() == "content-"
            place = isField ? .head : .outside
            return true
        case .outside:
            guard let line = boundary() else {
                drop(searched)
                return false
            }
            enter(line)
            return true
        case .head: return readHead()
        case .body(let headers, let length):
            if let line = boundary() {
                parts.append(ResponsePart(headers: headers, body: Array(bytes[..<endOfBody(before: line.lowerBound)])))
                enter(line)
                return true
            }
            guard let length, bytes.count >= length else { return false }
            parts.append(ResponsePart(headers: headers, body: Array(bytes[..<length])))
            drop(length)
            place = .outside
            return true
        }
    }

    /// Goes on behind a boundary's line.
    private mutating func enter(_ line: (lowerBound: Int, upperBound: Int, isLast: Bool)) {
        drop(line.upperBound)
        place = line.isLast ? .end : .head
    }

    private mutating func drop(_ count: Int) {
        bytes.removeFirst(count)
        (searched, scanned) = (0, 0)
    }

    /// The next line that is a boundary, with its end.
    private mutating func boundary() -> (lowerBound: Int, upperBound: Int, isLast: Bool)? {
        while let line = line(from: searched) {
            if let isLast = isBoundary(bytes[searched..<line.end]) { return (searched, line.next, isLast) }
            searched = line.next
        }
        return nil
    }

    /// The end of the line that begins at a place, without CR LF or LF, and the beginning of the next.
    private mutating func line(from start: Int) -> (end: Int, next: Int)? {
        guard let feed = bytes[max(start, scanned)...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = bytes.count
            // The last boundary may have no end of a line.
            guard isBoundary(bytes[start...]) == true else { return nil }
            return (bytes.count, bytes.count)
        }
        let hasReturn = feed > start && bytes[feed - 1] == UInt8(ascii: "\r")
        return (hasReturn ? feed - 1 : feed, feed + 1)
    }

    /// - Returns: Whether it is the last boundary; `nil` for any other line.
    private func isBoundary(_ line: ArraySlice<UInt8>) -> Bool? {
        for mark in marks where line.starts(with: mark) {
            let rest = line.dropFirst(mark.count)
            if rest.count > Self.longestPadding { return nil }
            if rest.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return false }
            if rest.starts(with: "--".utf8) { return true }
        }
        return nil
    }

    /// The end of a line before a boundary belongs to the boundary.
    private func endOfBody(before line: Int) -> Int {
        guard line > 0, bytes[line - 1] == UInt8(ascii: "\n") else { return line }
        return line > 1 && bytes[line - 2] == UInt8(ascii: "\r") ? line - 2 : line - 1
    }

    /// Reads the fields up to an empty line.
    private mutating func readHead() -> Bool {
        while let line = line(from: searched) {
            guard line.end == searched else {
                searched = line.next
                continue
            }
            let headers = Self.fields(bytes[..<searched])
            drop(line.next)
            place = .body(headers, length: headers[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil })
            return true
        }
        return false
    }

    private static func fields(_ bytes: ArraySlice<UInt8>) -> HTTPFields {
        let text = String(decoding: bytes, as: UTF8.self)
        return HTTPFields(
            received: text.splitScalars { $0 == "\r" || $0 == "\n" }.compactMap { line in
                line.cut(at: ":").map { (String($0.before.trimmed), String($0.after.trimmed)) }
            })
    }
}

/// A part is longer than a reader holds.
package struct PartTooLong: Error, Hashable, Sendable {
    package let limit: Int
}
