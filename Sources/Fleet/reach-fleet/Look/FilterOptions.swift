internal import ArgumentParser
internal import ReachCore
internal import ReachFleet

/// Which hosts a command shows.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only these hosts, such as 'site=berlin-* and not (class=wwan or state=silent)'. May be repeated; all must "
                + "match.", valueName: "query"))
    var queries: [String] = []

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
        for text in queries { filter.query = filter.query.and(try FleetArgument.query(text)) }
        return filter
    }
}
