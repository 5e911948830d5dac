internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachLoop

/// What `outages`, `page` and `export` compare.
struct OutageArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How far back to look; a day by default, of which page and export first read the newest events only.",
            valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var since: Duration?

    /// The window: what was asked for, or a day.
    var window: Duration { since ?? .seconds(86_400) }

    /// Who asks for a time gets all of it.
    var depth: FleetRecord.Depth { since == nil ? .newest : .whole }

    @Option(
        help: ArgumentHelp("The longest time between two departures of one outage.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var within: Duration = .seconds(5)

    @Option(
        help: ArgumentHelp(
            "The fewest hosts of an outage. Of a label all hosts together are one from two on.", valueName: "hosts"))
    var least = OutageOptions().leastHosts

    @Option(
        help: ArgumentHelp(
            "What to compare, separated by commas: gateway, address, class, asn, or the name of a label. By "
                + "default all.",
            valueName: "traits"),
        transform: { text in
            guard let choice = TraitChoice(text) else {
                throw ValidationError("'\(text)' is not a list such as gateway,address,site")
            }
            return choice
        })
    var by: TraitChoice = .all

    @Option(
        name: .customLong("asn"),
        help: ArgumentHelp(
            "Autonomous systems: a file with lines PREFIX NUMBER [NAME]. No service is asked.", valueName: "file"))
    var systems: String?

    func validate() throws {
        guard least > 0 else { throw ValidationError("--least is at least 1") }
    }

    var options: OutageOptions {
        var options = OutageOptions()
        options.leastHosts = least
        options.within = within
        options.by = by
        return options
    }

    func table() throws -> ASNTable {
        guard let systems else { return ASNTable() }
        guard let text = SmallFile.text(systems, limit: Self.fileLimit) else {
            throw FleetFailure(.cannotRead, "\(DisplayText.sanitized(systems)): cannot be read")
        }
        do throws(ASNTable.ParseError) {
            return try ASNTable(text)
        } catch {
            throw FleetFailure(.cannotRead, "\(DisplayText.sanitized(systems)): \(error)")
        }
    }

    /// A table of all prefixes of the Internet has about 40 MiB.
    private static let fileLimit = 256 << 20
}
