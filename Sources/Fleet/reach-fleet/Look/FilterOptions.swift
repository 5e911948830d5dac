internal import ArgumentParser
internal import ReachCore
internal import ReachFleet

/// Which hosts a command shows.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Only hosts with this label. May be repeated; all must match.", valueName: "label=value"))
    var labels: [String] = []

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp("Only hosts whose path uses this class of link.", valueName: "class"),
        transform: { text in
            guard let linkClass = LinkClass(rawValue: text) else {
                let words = LinkClass.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("'\(text)' is not a class of links: \(words)")
            }
            return linkClass
        })
    var linkClass: LinkClass?

    func validate() throws { _ = try filter() }

    func filter() throws -> RosterFilter {
        var filter = RosterFilter()
        filter.linkClass = linkClass
        for text in labels {
            let parts = text.split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("'\(text)' is not LABEL=VALUE") }
            filter.labels[parts[0]] = parts[1]
        }
        return filter
    }
}
