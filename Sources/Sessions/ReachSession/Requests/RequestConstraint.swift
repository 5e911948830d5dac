internal import ReachCore
internal import ReachQueue

/// What the network must be like for a request to be sent. While it is not, the request waits, and
/// ``RequestTask/explanation()`` says for what.
public struct RequestConstraint: Hashable, Sendable, CustomStringConvertible {
    let value: NetworkCondition

    private init(_ change: (inout NetworkCondition) -> Void) {
        var constraint = NetworkCondition()
        change(&constraint)
        value = constraint
    }

    init(value: NetworkCondition) { self.value = value }

    /// The kernel has a path to the request's own host, by any link: this includes hosts on this machine and on
    /// networks without Internet. The default.
    public static let reachable = RequestConstraint { $0.isTargetReachable = true }
    /// Any default route.
    public static let any = RequestConstraint { _ in }
    /// A default route over Wi-Fi, directly or below a tunnel.
    public static let wifi = RequestConstraint { $0.linkClass = .wifi }
    /// A default route over a cable, directly or below a tunnel.
    public static let wired = RequestConstraint { $0.linkClass = .wired }
    /// A default route over a cellular modem, directly or below a tunnel.
    public static let wwan = RequestConstraint { $0.linkClass = .wwan }
    /// A default route over anything but a cellular modem: what AFNetworking called "reachable via WiFi".
    public static let notWWAN = RequestConstraint { $0.excludedClasses = [.wwan] }
    /// A default route over a link that is not metered.
    public static let unmetered = RequestConstraint { $0.isUnmetered = true }

    /// A default route over this interface.
    public static func interface(_ name: String) -> RequestConstraint { RequestConstraint { $0.interface = name } }

    /// Reads a constraint: terms with commas between them, of which all must hold for one path.
    ///
    /// The terms are `any`; a class such as `wifi`, `wired` or `wwan`; `not` with a class; `unmetered`; `reachable`;
    /// `interface=NAME`; `family=4` or `family=6`.
    ///
    /// - Throws: A ``RequestError`` of the kind `request`, which names the term at fault. `validated` is one: a session
    ///   makes no probes, so that it would wait forever.
    public init(_ text: String) throws(RequestError) {
        do throws(RequestValidationError) {
            value = try RequestSpecification.condition(text)
        } catch {
            throw RequestError(error)
        }
        guard !value.isValidated else {
            throw RequestError(
                .request, "bad-constraint", "'validated' takes probes, which a session does not make: leave it out")
        }
    }

    /// The constraint as text that ``init(_:)`` parses, with the terms in a fixed order.
    public var description: String { value.description }
}
