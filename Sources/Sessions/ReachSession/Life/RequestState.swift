/// The state of a request.
public enum RequestState: String, Hashable, Sendable, CaseIterable {
    /// Suspended for at least one reason. A new request is suspended by its user until it is resumed.
    case suspended
    /// Not suspended: the request starts when its turn comes.
    case resumed
    /// The request is being sent, or its response received.
    case running
    /// The request has a response, or an error other than its cancellation. Final.
    case completed
    /// The user cancelled the request. Final.
    case cancelled

    /// Whether the state is final.
    public var isFinal: Bool { self == .completed || self == .cancelled }

    /// The number of the state in NSURLSessionTask, for programs that used AFNetworking: 0 running, 1 suspended, 2
    /// canceling, 3 completed. A cancelled task counts as completed with an error.
    public var sessionTaskState: Int {
        switch self {
        case .resumed, .running: 0
        case .suspended: 1
        case .completed, .cancelled: 3
        }
    }
}

/// The reasons why a request is suspended. Reasons never clear each other: a network that returns does not resume what
/// a user suspended, and a user who resumes a request does not start it without a network.
public struct SuspensionReasons: OptionSet, Hashable, Sendable {
    /// A bit for each reason.
    public let rawValue: UInt8

    /// Reasons from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user suspended the request.
    public static let user = SuspensionReasons(rawValue: 1)
    /// The network that the request needs is missing.
    public static let network = SuspensionReasons(rawValue: 2)
    /// The whole queue is held.
    public static let queue = SuspensionReasons(rawValue: 4)
}
