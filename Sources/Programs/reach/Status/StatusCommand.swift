internal import ArgumentParser
internal import ReachCore

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print whether targets can be reached, and how.",
        discussion: """
            A target is the Internet (nothing, or "internet"), a host name, an address, a prefix, interface:NAME or a \
            URL. Asks the daemon if one runs, otherwise the kernel; sends nothing.

            Exit status: 0 all reachable, 1 at least one not reachable, 2 usage, 3 unknown, 4 cannot observe. With \
            --validated: 0 the Internet answers, 1 it does not, 3 nothing has been proved.

            Example: reach status intranet.example.org interface:eth0
            """)

    @Flag(help: "Print a JSON object for each target, one per line.")
    var json = false

    @OptionGroup var format: FormatOptions

    @Flag(help: "Exit by what the daemon's connectivity checks have proved.")
    var validated = false

    @OptionGroup var daemon: DaemonOptions
    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "Targets; the Internet by default.", completion: ValueCompletion.target,
        transform: { try CommandLineValue.target($0) })
    var targets: [Target] = []

    func validate() throws {
        try daemon.exclude(observation.given)
        if json && format.template != nil { throw ValidationError("--json and --format exclude each other") }
        guard validated else { return }
        for target in query.targets where !target.canBeProved {
            throw ValidationError(
                "--validated: checks prove nothing about '\(DisplayText.sanitized(target.description))', only about "
                    + "internet and interface:NAME; leave it out, or see 'reach probe'")
        }
    }

    var query: StatusQuery {
        StatusQuery(
            targets: targets.isEmpty ? [.internet] : targets, json: json, format: format.template,
            validated: validated, source: daemon.source(observation.given), kernelOptions: observation.engineOptions)
    }

    func run() throws { try query.run() }
}
