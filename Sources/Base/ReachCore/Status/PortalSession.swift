/// What the API of a network's portal says about this machine (RFC 8908).
public struct PortalSession: Hashable, Sendable {
    /// The interface behind which the portal is.
    public package(set) var interface: String
    /// Whether the portal lets nothing pass until its conditions are met.
    public package(set) var isCaptive: Bool
    /// The page on which a user can meet the conditions, or see the session.
    public package(set) var userPortalURL: String?
    /// A page about the place, such as a hotel or a train.
    public package(set) var venueInfoURL: String?
    /// When the session ends; `nil` if it has no end, or if the portal does not say.
    package var end: BootTime?
    /// Bytes that may still pass, when the portal was last asked; `nil` if it does not say.
    public package(set) var bytesRemaining: Int64?
    /// Whether the page of the portal can extend the session; `nil` if the portal does not say.
    public package(set) var canExtend: Bool?
    /// Whether the session ends within ``warningTime``.
    public package(set) var isEnding = false

    /// How long before its end a session is reported to be about to end: time enough to find the page and to pay, and
    /// less than the shortest sessions that are sold.
    public static let warningTime: Duration = .seconds(300)
    /// The longest session that counts as one with an end: ten years. Longer ones would overflow a clock of
    /// nanoseconds.
    package static let longestSeconds: Int64 = 10 * 365 * 86_400
    /// Ends that differ by less are the same: networks delay answers, and portals count whole seconds.
    private static let sameEnd: Duration = .seconds(30)

    /// Creates a session.
    package init(interface: String, isCaptive: Bool) {
        self.interface = interface
        self.isCaptive = isCaptive
    }

    /// Whole seconds until the session ends; 0 after its end.
    package func secondsRemaining(at now: BootTime) -> Int64? {
        end.map { max(0, ($0 - now).nanoseconds / 1_000_000_000) }
    }

    /// A sentence for people.
    package func text(at now: BootTime) -> String {
        if isCaptive {
            let page = userPortalURL.map { " Its page is \(DisplayText.sanitized($0))." } ?? ""
            return "The network's portal says that it lets nothing pass until its conditions are met.\(page)"
        }
        guard let seconds = secondsRemaining(at: now) else { return "The network's portal says that it is open." }
        return "The network's portal says that it is open for another \(DurationText.describe(.seconds(seconds)))."
    }

    /// Whether both say the same, apart from what time and traffic alone change.
    package func isSame(as other: PortalSession) -> Bool {
        let isSameEnd =
            switch (end, other.end) {
            case (nil, nil): true
            case (let one?, let two?): max(one, two) - min(one, two) < Self.sameEnd
            default: false
            }
        return isSameEnd && interface == other.interface && isCaptive == other.isCaptive && isEnding == other.isEnding
            && Self.page(userPortalURL) == Self.page(other.userPortalURL)
            && Self.page(venueInfoURL) == Self.page(other.venueInfoURL)
            && canExtend == other.canExtend && (bytesRemaining == nil) == (other.bytesRemaining == nil)
    }

    /// Some portals write a new token into the query at each answer.
    private static func page(_ url: String?) -> Substring? { url?.prefixScalars { $0 != "?" } }
}
