/// Where a request stands in its life. ``RequestLife`` has the ways from one to another.
public enum RequestState: String, Hashable, Sendable, CaseIterable {
    /// Held back, for at least one reason. A new request is held by its user until it is resumed.
    case suspended
    /// Nothing holds it back: it starts when its turn comes.
    case resumed
    /// It is being sent, or its response received.
    case running
    /// It has a response, or an error that is not its cancellation. Nothing happens to it any more.
    case completed
    /// Its user gave it up. Nothing happens to it any more.
    case cancelled

    /// Whether nothing happens to it any more.
    public var isFinal: Bool { self == .completed || self == .cancelled }

    /// NSURLSessionTask's number for it, for programs that knew AFNetworking: 0 running, 1 suspended, 2 canceling, 3
    /// completed. A task that was cancelled is completed with an error once that was told.
    public var sessionTaskState: Int {
        switch self {
        case .resumed, .running: 0
        case .suspended: 1
        case .completed, .cancelled: 3
        }
    }
}

/// Why a request is held back. Reasons never clear each other: a network that comes back does not resume what a user
/// suspended, and a user who resumes does not start what has no network.
public struct SuspensionReasons: OptionSet, Hashable, Sendable {
    /// A bit for each reason.
    public let rawValue: UInt8

    /// Reasons from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whoever made the request wants it held.
    public static let user = SuspensionReasons(rawValue: 1)
    /// There is no network of the kind it needs.
    public static let network = SuspensionReasons(rawValue: 2)
    /// The queue it stands in is held as a whole.
    public static let queue = SuspensionReasons(rawValue: 4)
}
