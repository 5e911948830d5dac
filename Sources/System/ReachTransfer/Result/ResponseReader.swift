internal import Glibc
internal import ReachCore

/// Reads the head of a response line by line, and limits its body: a value that libcurl's callbacks feed.
struct ResponseReader {
    /// The result of a line, or of a piece of the body.
    enum Verdict: Equatable {
        case proceed
        /// The head is complete.
        case head(ResponseHead)
        /// The limit is reached, which is not a failure.
        case enough
        case fail(TransferFailure)
    }

    private let hasBody: Bool
    private let limit: ResponseLimit
    private let followsRedirects: Bool
    private let leavesRedirects: Bool
    private let resume: ResumePoint?
    private let checksRange: Bool
    private var head: ResponseHead?
    private var isComplete = false
    /// Whether the next line is a field: between a status line and the empty line after its fields.
    private var isInFields = false
    /// The values of Content-Length, each once.
    private var lengths: [String] = []
    /// The first of them, if it is a number.
    private var announced: UInt64?
    private(set) var isChunked = false
    private(set) var headerBytes = 0
    /// Whether another reader of these bytes could see the response end elsewhere (RFC 9112 sections 5 and 6.3). The
    /// connection is then not used again.
    private(set) var isAmbiguous = false
    private(set) var bodyBytes: UInt64 = 0

    /// - Parameters:
    ///   - method: The request's method: a response to HEAD has the length of a body that does not come.
    ///   - resume: Where a download resumes; the response must be about these bytes.
    ///   - checksRange: Whether a partial response must be the part that was asked for.
    init(
        method: String = "GET", limit: ResponseLimit, followsRedirects: Bool = false,
        leavesRedirects: Bool = false, resume: ResumePoint? = nil,
        checksRange: Bool = true
    ) {
        hasBody = method != "HEAD"
        self.limit = limit
        self.followsRedirects = followsRedirects
        self.leavesRedirects = leavesRedirects
        self.resume = resume
        self.checksRange = checksRange
    }

    /// The complete head of the response; `nil` before, and for informational heads.
    var response: ResponseHead? { isComplete ? head : nil }

    /// Whether the response is in HTTP/1, in which lines and lengths delimit it.
    var isTextual: Bool { head?.version.hasUTF8Prefix("HTTP/1.") ?? false }

    /// The target of a redirect that is followed.
    var redirect: String? { followsRedirects ? target : nil }

    /// Whether it is a redirect that is followed, here or by the transfer's owner: then its body is of no use.
    var isFollowed: Bool { (followsRedirects || leavesRedirects) && target != nil }

    private var target: String? {
        guard let response, Self.redirects.contains(response.status) else { return nil }
        return response["location"]
    }

    /// Reads a line with its end; an empty line ends the head.
    mutating func read(line bytes: [UInt8]) -> Verdict { bytes.withUnsafeBytes { read(line: $0) } }

    /// Reads a line with its end; an empty line ends the head.
    mutating func read(line bytes: UnsafeRawBufferPointer) -> Verdict {
        headerBytes += bytes.count
        guard headerBytes <= limit.headerBytes else {
            return .fail(
                TransferFailure(
                    .headerTooLarge, "the head of the response is larger than \(limit.headerBytes) bytes", curlCode: 100
                ))
        }
        let end = Self.endOfText(bytes)
        let line = bytes[..<end]
        // Informational heads count too: a server could send them endlessly.
        if !isInFields, !isComplete, end >= 5, let start = bytes.baseAddress, memcmp(start, "HTTP/", 5) == 0 {
            head = Self.status(line)
            // libcurl's versions differ in which of others they accept.
            guard let version = head?.version, Self.versions.contains(version) else {
                return .fail(notHTTP)
            }
            head?.fields.reserveCapacity(8)
            (isInFields, lengths, announced, isChunked) = (true, [], nil, false)
            if version == "HTTP/1.0" { isAmbiguous = true }
        } else if !isInFields, !isComplete {
            // libcurl accepts blanks before a status line, and here it would have no version.
            return .fail(notHTTP)
        } else if line.isEmpty {
            return complete()
        } else if !isComplete {
            read(field: line, isWhole: end + 2 >= bytes.count)
        }
        return .proceed
    }

    /// - Parameter isWhole: Nothing follows the first end of a line in it.
    private mutating func read(field line: Slice<UnsafeRawBufferPointer>, isWhole: Bool) {
        if let first = line.first, Self.isBlank(first) { return unfold(line) }
        guard let field = Self.field(line) else { return isAmbiguous = true }
        if !isWhole || !RequestFieldFault.isToken(field.name) { isAmbiguous = true }
        head?.fields.append(field)
        switch field.name.utf8.count {
        case 14 where field.isNamed("Content-Length"):
            let length = Self.number(field.value)
            if !lengths.isEmpty || length == nil { isAmbiguous = true }
            if lengths.isEmpty { announced = length }
            if !lengths.contains(field.value) { lengths.append(field.value) }
        case 17 where field.isNamed("Transfer-Encoding"):
            if isChunked || field.value.lowercased() != "chunked" { isAmbiguous = true }
            isChunked = true
        default: break
        }
        if isChunked, !lengths.isEmpty { isAmbiguous = true }
    }

    /// Reads a line that continues the field before it: one space joins them (RFC 9112 section 5.2).
    private mutating func unfold(_ line: Slice<UnsafeRawBufferPointer>) {
        isAmbiguous = true
        guard let last = head?.fields.indices.last else { return }
        let rest = Self.text(of: line, from: line.startIndex)
        if rest.isEmpty { return }
        let space = head?.fields[last].value.isEmpty == true ? "" : " "
        // In place: a server can send tens of thousands of these lines.
        head?.fields[last].value += space + rest
    }

    /// Counts bytes of the body.
    ///
    /// - Returns: How many of them are within the limit, and the verdict.
    mutating func accept(_ count: Int) -> (accepted: Int, verdict: Verdict) {
        // A small one of a followed redirect is read so that the connection can be kept.
        let isFollowed = isFollowed
        let limit = isFollowed ? min(bodyLimit, Self.redirectBytes) : bodyLimit
        let accepted = Int(min(UInt64(count), limit - min(limit, bodyBytes)))
        bodyBytes += UInt64(accepted)
        if accepted == count { return (accepted, .proceed) }
        if isFollowed || self.limit.action == .stop { return (accepted, .enough) }
        return (accepted, .fail(tooLarge))
    }

    private mutating func complete() -> Verdict {
        isInFields = false
        guard !isComplete, let head, head.status >= 200 || head.status == 101 else { return .proceed }
        if lengths.count > 1, !isChunked {
            return .fail(
                TransferFailure(.badResponse, "the response has several lengths: \(lengths.sorted())", curlCode: 8))
        }
        // A value that continues on another line is another one.
        let length = isAmbiguous ? head["content-length"].flatMap(Self.number) : announced
        self.head?.contentLength = length
        isComplete = true
        if let failure = mismatch { return .fail(failure) }
        if hasBody, let length, length > bodyLimit, limit.action == .fail, !isFollowed {
            return .fail(tooLarge)
        }
        return self.head.map(Verdict.head) ?? .proceed
    }

    private var notHTTP: TransferFailure {
        TransferFailure(.badResponse, "the response is in no known version of HTTP", curlCode: 1)
    }

    private var tooLarge: TransferFailure {
        TransferFailure(.responseTooLarge, "the response is larger than \(limit.bodyBytes) bytes", curlCode: 63)
    }

    /// Why a partial response does not fit: a 206 must be about the bytes that were asked for, to the last one, of the
    /// same entity and of its length. A server may send fewer (RFC 9110 section 15.3.7), which would pass for the
    /// whole. A 416 says that no bytes follow those of an earlier transfer.
    private var mismatch: TransferFailure? {
        guard let head, checksRange else { return nil }
        let range = head["content-range"].flatMap(ContentRange.init)
        switch head.status {
        case 206: break
        case 416 where resume != nil: break
        // Some servers send a part as if it were the whole.
        case 200 where range?.first ?? 0 > 0 || range?.isToEnd == false: break
        default: return nil
        }
        let isSame = resume == nil || head["etag"].map { $0 == resume?.entityTag } ?? true
        // Of a server that changes a file and keeps its tag.
        let isAsLong = range?.total == nil || resume?.total == nil || range?.total == resume?.total
        let isOnePart = head["content-type"]?.lowercased().hasUTF8Prefix("multipart/byteranges") != true
        if head.status == 206, isSame, isAsLong, isOnePart, range?.first == resume?.offset ?? 0, range?.isToEnd == true,
            range?.count(fits: head.contentLength) == true
        {
            return nil
        }
        let actual = isSame ? head["content-range"] ?? "none" : "of another entity"
        return TransferFailure(
            .badRange, "the server answered with another range than the one asked for: \(actual)", curlCode: 33)
    }

    /// The limit for this response's body: the bytes of an earlier transfer count too.
    private var bodyLimit: UInt64 {
        guard head?.status == 206, let resume else { return limit.bodyBytes }
        return limit.bodyBytes - min(limit.bodyBytes, resume.offset)
    }

    /// As curl's and Go's clients read before they rather close the connection.
    private static let redirectBytes: UInt64 = 3072

    private static let versions: Set<String> = ["HTTP/1.0", "HTTP/1.1", "HTTP/2"]

    private static let redirects: [Int] = [301, 302, 303, 307, 308]

    /// The first end of a line. libcurl passes whole lines; anything after the first end is not read.
    private static func endOfText(_ bytes: UnsafeRawBufferPointer) -> Int {
        var end = 0
        while end < bytes.count, bytes[end] != UInt8(ascii: "\r"), bytes[end] != UInt8(ascii: "\n") { end += 1 }
        return end
    }

    private static func status(_ line: Slice<UnsafeRawBufferPointer>) -> ResponseHead? {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count >= 2, let status = number(String(decoding: parts[1], as: UTF8.self)), status < 1000 else {
            return nil
        }
        return ResponseHead(status: Int(status), version: String(decoding: parts[0], as: UTF8.self), fields: [])
    }

    private static func field(_ line: Slice<UnsafeRawBufferPointer>) -> HeaderField? {
        let bytes = line.base
        var colon = line.startIndex
        while colon < line.endIndex, bytes[colon] != UInt8(ascii: ":") { colon += 1 }
        guard colon < line.endIndex else { return nil }
        // As bytes of a known type, since the texts of raw bytes take ten times as long.
        let name = UnsafeRawBufferPointer(rebasing: bytes[line.startIndex..<colon]).withMemoryRebound(to: UInt8.self) {
            String(decoding: $0, as: UTF8.self)
        }
        return HeaderField(name, text(of: line, from: colon + 1))
    }

    /// The text of a line from a place on, without blanks around it: UTF-8, or else Latin-1, the encoding of fields
    /// before RFC 7230.
    private static func text(of line: Slice<UnsafeRawBufferPointer>, from start: Int) -> String {
        let bytes = line.base
        var (start, end) = (start, line.endIndex)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        let value = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        let text = value.withMemoryRebound(to: UInt8.self) { String(validating: $0, as: UTF8.self) }
        if let text { return text }
        return String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    fileprivate static func number(_ text: some StringProtocol) -> UInt64? {
        text.utf8.allSatisfy { 48...57 ~= $0 } ? UInt64(text) : nil
    }
}

/// The value of a Content-Range field (RFC 9110 section 14.4): `bytes 200-999/1000`, or `bytes */1000`.
struct ContentRange: Equatable {
    /// `nil` for a range that cannot be satisfied.
    let first: UInt64?
    private let last: UInt64?
    /// `nil` if the server does not say.
    let total: UInt64?

    /// Whether nothing follows the range, as far as the server says.
    var isToEnd: Bool {
        guard let last, let total else { return true }
        return last + 1 == total
    }

    /// Whether a body of this length can be the range.
    func count(fits length: UInt64?) -> Bool {
        guard let first, let last, let length else { return true }
        return last - first + 1 == length
    }

    init?(_ text: String) {
        let parts = text.split(scalar: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased().hasUTF8Prefix("bytes ") else { return nil }
        let range = parts[0].dropFirst(6)
        total = parts[1] == "*" ? nil : ResponseReader.number(parts[1])
        if range == "*" {
            (first, last) = (nil, nil)
            return
        }
        let ends = range.split(scalar: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ResponseReader.number(ends[0]), let last = ResponseReader.number(ends[1]),
            first <= last, total.map({ last < $0 }) ?? true
        else { return nil }
        (self.first, self.last) = (first, last)
    }
}
