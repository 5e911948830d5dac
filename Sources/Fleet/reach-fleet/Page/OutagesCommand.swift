internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

struct OutagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outages",
        abstract: "Print which hosts went away together, and what they have in common.",
        discussion: """
            At least five hosts, and half of those that share a gateway, a network, a label, a class of link or a \
            provider. Until the hosts are back this is presumed from their connections and leases; then their own \
            events say when and why.

            Exit status: 0 an outage lasts, 1 none does.

            Example: reach fleet outages --since 7d
            """)

    @Flag(help: "Print a JSON object for each outage, one a line.")
    var json = false

    @OptionGroup var arguments: OutageArguments
    @OptionGroup var engine: EngineOptions

    func run() throws {
        let systems = try arguments.table()
        let record = try FleetRecord(try engine.connect(), window: arguments.window, .whole, timelines: false)
        let outages = record.outages(arguments.options, systems)
        if json {
            let hosts = record.view.roster.hosts.map(\.id)
            StandardOutput.writeJSON(outages) { $0.outage($1, hosts: hosts) }
        } else {
            StandardOutput.write(lines: outages.map(Self.text).joined())
        }
        if !outages.contains(where: \.isOpen) {
            let length = DurationText.describe(arguments.window)
            throw FleetFailure(.found, outages.isEmpty ? "no outage in the last \(length)" : nil)
        }
    }

    private static func text(_ outage: Outage) -> String {
        outage.sentence.text(writing: TimeText.describe) + "\n" + (outage.addition.map { "    \($0)\n" } ?? "")
    }
}
