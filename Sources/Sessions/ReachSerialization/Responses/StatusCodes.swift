/// A set of statuses, given as ranges.
public struct StatusCodes: Hashable, Sendable, ExpressibleByArrayLiteral {
    private let ranges: [ClosedRange<Int>]

    /// The union of ranges.
    public init(_ ranges: ClosedRange<Int>...) { self.ranges = ranges }

    /// Single statuses.
    public init(arrayLiteral codes: Int...) { ranges = codes.map { $0...$0 } }

    /// 200 to 299.
    public static let success = StatusCodes(200...299)

    /// Whether a status is one of them.
    public func contains(_ code: Int) -> Bool { ranges.contains { $0 ~= code } }

    /// The reason phrase of a status, from RFC 9110 and RFC 6585.
    static func phrase(_ code: Int) -> String? { phrases[code] }

    private static let phrases: [Int: String] = [
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early",
        426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 511: "Network Authentication Required",
    ]
}
