internal import ReachCore

/// What `wait --until` and `run --when` wait for: a condition of the path, and beyond it what only an attempt or a
/// probe can say.
struct WaitTerms: Equatable {
    /// `nil` where no path is asked for.
    var condition: NetworkCondition?
    /// Whether the target is to answer.
    var answers = false
    /// Names of configured probes that are to be up.
    var probes: [String] = []

    /// Reads terms with commas between them.
    ///
    /// - Throws: ``NetworkConditionError``, which names the term at fault.
    init(_ text: String) throws(NetworkConditionError) {
        var (answers, probes) = (false, [String]())
        condition = try NetworkCondition.read(text) { (term) throws(NetworkConditionError) in
            if let name = term.after("probe=") {
                guard !name.isEmpty, name.utf8.count <= 256 else {
                    throw NetworkConditionError(description: "'\(DisplayText.excerpt(term))' names no probe")
                }
                probes.append(String(name))
                return true
            }
            if term == "answer" || term == "responds" {
                throw NetworkConditionError(description: "'\(term)' is not a condition; did you mean 'answers'?")
            }
            answers = answers || term == "answers"
            return term == "answers"
        }
        (self.answers, self.probes) = (answers, probes)
        if let condition, condition.isTargetUnreachable, answers {
            throw NetworkConditionError(description: "'answers' and 'not-reachable' exclude each other")
        }
    }
}

/// The target of `wait` and `run`: what the kernel is asked about, and what an attempt asks.
struct WaitTarget: Equatable {
    let target: Target
    /// As it was written.
    let text: String

    static let internet = WaitTarget(target: .internet, text: "internet")

    private init(target: Target, text: String) {
        self.target = target
        self.text = text
    }

    /// - Throws: ``TargetError``.
    init(_ text: String) throws(TargetError) {
        self.text = text
        let port = "tcp://" + text
        if (try? Target(text)) == nil, text.utf8Range(of: "://") == nil, let target = try? Target(port) {
            self.target = target
        } else if text.hasUTF8Prefix("dns:"), !text.hasUTF8Prefix("dns://") {
            // The machine's own name servers are asked.
            target = .internet
        } else {
            target = try Target(text)
        }
    }

    /// Whether it says how it is to be asked: a URL, or a port.
    var namesService: Bool { target.description != text || text.utf8Range(of: "://") != nil }

    /// The URL of an attempt: a host alone is sent echo requests, a port is connected to.
    ///
    /// - Throws: ``CommandError`` for a target that cannot be asked.
    var question: String {
        get throws(CommandError) {
            if text.hasUTF8Prefix("dns:") || text.utf8Range(of: "://") != nil { return text }
            switch target.subject {
            case .name, .address: break
            case .internet, .prefix, .interface:
                throw CommandError(
                    status: .usage,
                    message: "'answers' needs a URL, HOST:PORT or a host as the target; the Internet is 'internet'")
            }
            if target.description != text { return "tcp://" + text }
            if case .address(let address, _) = target.subject, address.family == .ipv6 { return "icmp://[\(text)]" }
            return "icmp://" + text
        }
    }
}
