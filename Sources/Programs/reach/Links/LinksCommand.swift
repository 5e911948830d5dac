internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

struct LinksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links",
        abstract: "Print the links of this machine and what each is.",
        discussion: """
            Marks the links that the path to the Internet uses. Asks the daemon if one runs, otherwise the kernel.

            Exit status: 0 printed, 1 no link has a given name, 2 usage, 4 cannot observe.

            Example: reach links --all
            """)

    @Flag(help: "Print a JSON object for each link, one per line.")
    var json = false

    @Flag(
        help: "Also print virtual ports of bridges, and virtual links and tunnels that are down and have no address.")
    var all = false

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "Names or alternative names of links; every link by default.", completion: ValueCompletion.interface)
    var names: [String] = []

    func validate() throws { try daemon.exclude(observation.given) }

    func run() throws {
        var source = daemon.source(observation.given)
        let (reports, isDaemon) = try LinkReports.read(from: &source, kernelOptions: observation.engineOptions)
        func show(_ reports: [LinkReport], leftOut: Int) {
            if json { return printJSON(reports, isDaemon ? .daemon : .kernel) }
            guard !reports.isEmpty else { return }
            let text = LinksText(style: .current, width: StandardOutput.width)
            StandardOutput.write(
                lines: text.describe(reports, leftOut: leftOut) + source.note(isDaemon: isDaemon, .current))
        }
        guard !names.isEmpty else {
            let shown = reports.filter { all || !$0.isBackground }
            return show(shown, leftOut: reports.count - shown.count)
        }
        let found = names.map { name in reports.first { $0.link.isNamed(name) } }
        show(found.compactMap { $0 }, leftOut: 0)
        let missing = zip(names, found).filter { $1 == nil }.map { "'\(DisplayText.sanitized($0.0))'" }
        guard !missing.isEmpty else { return }
        let present = reports.map(\.link.name)
        let hint = zip(names, found).filter { $1 == nil }.lazy.map { NearestWord.hint(for: $0.0, among: present) }
            .first { !$0.isEmpty }
        throw CommandError(
            status: .notReachable, message: "no link is named \(missing.joined(separator: ", "))\(hint ?? "")")
    }

    private func printJSON(_ reports: [LinkReport], _ source: StatusSource) {
        let now = SystemClock.now
        StandardOutput.writeJSON(reports) { $0.link($1, source: source, at: now) }
    }
}

/// The links of this machine, from the daemon if it answers, otherwise from the kernel.
enum LinkReports {
    /// - Parameter source: Where to ask; the kernel afterwards if it answered.
    static func read(
        from source: inout DaemonOptions.Source, kernelOptions: ReachabilityEngine.Options
    ) throws(CommandError) -> (reports: [LinkReport], isDaemon: Bool) {
        let answer = try source.ask { client throws(ControlError) in try client.links() }
        if let answer { return (answer, true) }
        let configuration = try KernelConfiguration(kernelOptions)
        do throws(NetlinkError) {
            let snapshot = try KernelSnapshot(
                options: configuration.options, wantsWireless: configuration.namesWireless)
            return (try snapshot.links(), false)
        } catch {
            throw .cannotAsk(error)
        }
    }
}
