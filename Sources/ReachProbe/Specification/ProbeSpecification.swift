package import ReachCore

/// A probe as the user describes it. Two that are equal have one history.
///
/// The numbers are scheduling.md's (4.5, 4.8): every 30 s; a timeout of 5 s or four fifths of the interval; after a failure
/// every 5 s; down after three failures, up after two successes.
package struct ProbeSpecification: Hashable, Sendable {
    /// What the path must be like for the probe to be sent.
    package enum Way: Hashable, Sendable {
        /// As the kernel sends anything else.
        case any
        /// By this interface and no other: every socket is bound to it.
        case interface(String)
        /// Only while the kernel's path goes by a link of this class; bound to that link.
        case linkClass(LinkClass)
    }

    package enum Method: String, Hashable, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
    }

    /// Down and up after so many results of one kind in a row.
    package struct Thresholds: Hashable, Sendable {
        package var down = 3
        package var up = 2

        package init(down: Int = 3, up: Int = 2) {
            self.down = down
            self.up = up
        }
    }

    package var name: String
    package var target: ProbeTarget
    package var interval: Duration = .seconds(30)
    /// `nil` is ``standardTimeout``.
    package var timeout: Duration?
    package var failingInterval: Duration = .seconds(5)
    package var thresholds = Thresholds()
    package var way = Way.any
    /// `nil` is either.
    package var family: IPAddress.Family?
    package var method = Method.get
    /// Of the request, as they are sent.
    package var headers: [ProbeConditions.Header] = []
    /// So many redirects are followed.
    package var redirects = 0
    /// A certificate is looked at and not judged.
    package var acceptsAnyCertificate = false
    package var conditions = ProbeConditions()

    package init(name: String, target: ProbeTarget) {
        self.name = name
        self.target = target
    }

    /// The longer an attempt may take, the later it is seen that something is wrong; and it must end before the next begins.
    package var standardTimeout: Duration { min(.seconds(5), interval * 4 / 5) }

    package var effectiveTimeout: Duration { timeout ?? standardTimeout }
}
