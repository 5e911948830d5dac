import ReachCore
import ReachTesting
import Testing

/// Everything that a reader of an explanation gets, and the paths that are explained.
struct ExplanationShownTests {
    @Test func `each network is explained as this, whole`() {
        // Several rows look at one network.
        var seen: Set<[String]> = []
        let texts = ExplanationRow.all.compactMap { row -> String? in
            let explanation = row.scene.explanation
            let lines = [("IPv4", explanation.ipv4), ("IPv6", explanation.ipv6)].flatMap { family, part in
                part.steps.map { "\(family) \($0.finding.rawValue) \($0.subject.rawValue): \($0.text)" }
                    + ["\(family) path: \(Self.text(part.path))"]
            }
            guard seen.insert(lines).inserted else { return nil }
            return (["# \(row.testDescription)"] + lines).joined(separator: "\n") + "\n"
        }
        #expect(ShownText.difference(of: texts.joined(separator: "\n"), from: "explanations.txt") == nil)
    }

    private static func text(_ path: NetworkPath) -> String {
        let parts: [(String, String?)] = [
            ("reason", path.reason?.rawValue), ("by", path.interface.map(DisplayText.sanitized)),
            ("index", path.interfaceIndex.map { "\($0)" }), ("class", path.linkClass?.rawValue),
            ("carried by", path.carrierClass?.rawValue), ("over", path.lower.isEmpty ? nil : path.lower.listed),
            ("via", path.gateway?.description), ("from", path.source?.description),
            ("table", path.table.map { "\($0)" }), ("metric", path.metric.map { "\($0)" }),
            ("neighbour", path.neighbour.map { "\($0)" }),
        ]
        return ([path.status.rawValue] + parts.compactMap { name, value in value.map { "\(name) \($0)" } })
            .joined(separator: ", ")
    }
}
