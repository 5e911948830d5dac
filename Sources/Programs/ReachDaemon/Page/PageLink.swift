internal import ReachCore
internal import ReachPage

/// A link on a page.
struct PageLink {
    private let report: LinkReport

    init(_ report: LinkReport) { self.report = report }

    var html: String {
        let items = facts.map { "<div><dt>\($0.name)</dt><dd>\(HTMLPage.escaped($0.text))</dd></div>" }
        return
            "<li class=\"\(word)\"><h3>\(HTMLPage.escaped(report.link.name)) <span>\(report.linkClass.rawValue)</span>"
            + "</h3>\n"
            + "<dl>\(items.joined())</dl></li>\n"
    }

    private var word: String {
        if report.trouble != nil { return "down" }
        switch report.proof?.connectivity {
        case .limited?, .portal?, .some(.none): return "down"
        default: return report.carriesInternet.isEmpty ? "idle" : "up"
        }
    }

    private var facts: [(name: String, text: String)] {
        var facts = [("State", state)]
        if let network { facts.append(("Network", network)) }
        if let signal = report.wireless?.signal { facts.append(("Signal", "\(signal) dBm")) }
        if let proof = report.proof { facts.append(("Internet", Self.words(proof))) }
        if let quality = report.proof?.quality { facts.append(("Line", quality.text)) }
        if report.isMetered { facts.append(("Metered", "yes")) }
        return facts
    }

    private var state: String {
        if let trouble = report.trouble {
            return report.brokenLower.map { "\(trouble.sentence), since \($0) is broken" } ?? trouble.sentence
        }
        let families = IPAddress.Family.allCases.filter { report.carriesInternet.contains($0) }.map { "\($0)" }
        return families.isEmpty ? "up" : "up, carries the Internet"
    }

    /// A private identifier says nothing to people.
    private var network: String? {
        if let network = report.network, !NetworkRule.isIdentifier(network) { return network }
        return report.wireless.flatMap { $0.network.ssid?.description }
    }

    private static func words(_ proof: LinkReport.Proof) -> String {
        switch proof.connectivity {
        case .full: "answers" + (proof.roundTrip.map { " in " + DurationText.milliseconds($0) } ?? "")
        case .limited where proof.reason == .nameNotResolved: "answers, but names are not resolved"
        case .limited: "does not answer"
        case .portal: "a login page answers instead"
        case .none: "no path"
        case .unknown: "not checked yet"
        }
    }
}
