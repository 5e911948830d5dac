package import ReachCore

extension QueueExplanation.Reason {
    /// The reason with what broke, such as "Waiting for Wi-Fi: wlan0 is down.", where the request waits for a default
    /// route.
    ///
    /// - Parameter rootCause: Returns why no default route satisfies a condition; `nil` if that is not known.
    package func naming(_ rootCause: (NetworkCondition) -> RootCause?) -> QueueExplanation.Reason {
        guard let lacks, let cause = rootCause(lacks) else { return self }
        var reason = self
        if cause.kind == .noLinks, lacks != .any {
            reason.text = "No link of this machine can satisfy '\(DisplayText.sanitized(lacks.description))'."
            reason.remedy = "It starts when there is one that can."
            return reason
        }
        reason.text =
            if let linkClass = lacks.linkClass {
                "Waiting for \(linkClass.title): \(cause.sentence)."
            } else {
                "There is no network path: \(cause.sentence)."
            }
        return reason
    }

    /// The reason with what is wrong with the name of the network that it waits for.
    ///
    /// - Parameter problem: `nil` if the name is known.
    package func naming(networkProblem problem: String?) -> QueueExplanation.Reason {
        guard blocker == .otherNetwork, let problem else { return self }
        var reason = self
        reason.text = problem.prefix(1).uppercased() + problem.dropFirst() + (problem.hasUTF8Suffix("?") ? "" : ".")
        reason.remedy = "It starts when the configuration names the network and this machine is in it; or cancel it."
        return reason
    }
}

extension LinkClass {
    /// The class in a sentence, as in "waiting for Wi-Fi".
    fileprivate var title: String {
        switch self {
        case .wired: "a cable"
        case .wifi: "Wi-Fi"
        case .wwan: "a modem"
        case .bluetooth: "Bluetooth"
        case .tunnel: "a tunnel"
        case .virtual, .loopback, .other: "a link of the class \(rawValue)"
        }
    }
}
