#if Metrics || Tracing
    internal import ReachCore
    internal import ReachSerialization
    internal import ReachSession

    extension WebAddress {
        /// Without user, query and fragment, which may have secrets.
        var shown: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(path)" }

        /// The scheme's own where the URL has none.
        var portOrUsual: Int { Int(port ?? (scheme == "https" ? 443 : 80)) }
    }

    extension TaskMetrics.Exchange {
        /// As OpenTelemetry writes it: `1.1`, `2`.
        var protocolVersion: String? { httpVersion?.split(scalar: "/").last.map(String.init) }
    }
#endif
