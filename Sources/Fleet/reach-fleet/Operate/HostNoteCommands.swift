internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

struct RetireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Take hosts out of what is shown: they are gone for good.",
        discussion: """
            A retired host is no longer in status, page, metrics, outages and alerts. What it reported stays: \
            `reach-fleet host` and `events` print it, and `status --retired` lists it. Its key is still let in: take \
            it from the list of hosts, print the server's configuration again, and reload the server; with tokens, \
            `reach-fleet revoke` shuts it out.

            Exit status: 0 written, 3 no such host.

            Example: reach fleet retire till-7
            """)

    @Flag(help: "Show them again.")
    var undo = false

    @Flag(help: "Print a JSON object for each host, one a line.")
    var json = false

    @Argument(help: "The hosts' identities.", transform: { try FleetArgument.host($0) })
    var hosts: [String]

    @OptionGroup var engine: EngineOptions

    func run() throws {
        let session = try OperatorSession(engine)
        try session.check(hosts)
        let now = try session.present()
        for host in hosts {
            var note = try session.hostNote(host)
            if (note.retired == nil) != undo {
                note.retired = undo ? nil : now
                try session.write(note, of: host)
                session.record(OperatorAction(.retire, on: host, text: undo ? "undone" : nil))
            }
            show(host, note)
        }
        guard !undo, !json else { return }
        StandardOutput.write(
            lines: "the server still lets the key\(hosts.count == 1 ? "" : "s") in: take the line from the list of "
                + "hosts, print the configuration again with `reach-fleet config`, and reload the server; "
                + "with tokens, `reach-fleet revoke`\n")
    }

    private func show(_ host: String, _ note: HostNote) {
        guard !json else { return StandardOutput.writeJSON { note.write(of: host, to: &$0) } }
        let since = note.retired.map { "retired since \(TimeText.describe($0))" } ?? "not retired"
        StandardOutput.write(lines: "\(host): \(since)\n")
    }
}

struct LabelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "label",
        abstract: "Give a host labels of the operator's, besides its own.",
        discussion: """
            NAME=VALUE sets a label and NAME- takes it away; without either the labels are printed. They go before \
            those of the list of hosts, and these before the host's own.

            Exit status: 0 written, 3 no such host.

            Example: reach fleet label till-7 city=oslo
            """)

    @Flag(help: "Print a JSON object.")
    var json = false

    @Argument(help: "The host's identity.", transform: { try FleetArgument.host($0) })
    var host: String

    @Argument(help: ArgumentHelp("Labels to set, or to take away.", valueName: "name=value|name-"))
    var changes: [String] = []

    @OptionGroup var engine: EngineOptions

    func validate() throws { _ = try labels(after: [:]) }

    private func labels(after old: [String: String]) throws -> [String: String] {
        var labels = old
        for change in changes {
            if let label = HostLabels.read(change) {
                labels[label.name] = label.value
            } else if change.hasUTF8Suffix("-"), change.utf8.count > 1 {
                labels[String(change.dropLast())] = nil
            } else {
                throw ValidationError("'\(change)' is neither NAME=VALUE nor NAME-")
            }
        }
        guard HostLabels.areValid(labels) else { throw ValidationError(HostLabels.rule) }
        return labels
    }

    func run() throws {
        let session = try OperatorSession(engine)
        try session.check([host])
        var note = try session.hostNote(host)
        let new = try labels(after: note.labels)
        if new != note.labels {
            note.labels = new
            try session.write(note, of: host)
            session.record(OperatorAction(.label, on: host, text: changes.joined(separator: " ")))
        }
        guard !json else { return StandardOutput.writeJSON { note.write(of: host, to: &$0) } }
        let text = note.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
        StandardOutput.write(
            lines: DisplayText.sanitized("\(host): \(text.isEmpty ? "no labels of the operator's" : text)") + "\n")
    }
}
