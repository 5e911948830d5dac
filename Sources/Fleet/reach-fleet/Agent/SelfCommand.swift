internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachFleet
internal import ReachLoop
internal import ReachTerminal

/// `reach-fleet self`: how this host's agent is, and what leaves the host.
struct SelfCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "self",
        abstract: "Show how this host's agent is, or the lines that leave the host.",
        discussion: """
            Exit status: 0 if the engine gets what happens, 1 if something is wrong, 69 if no agent has run.

            Example: reach fleet self --show
            """)

    @OptionGroup var options: AgentOptions

    @Flag(
        help: "Print the events in the journal as they leave this host, by the configuration; nothing else ever does.")
    var show = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        if show { return try showLines() }
        let path = options.runtimePath + "/" + AgentReport.fileName
        guard let text = SmallFile.text(path, limit: 64 << 10), let report = AgentReport(Array(text.utf8)) else {
            throw FleetFailure(.unavailable, "no agent runs here: \(DisplayText.sanitized(path)) cannot be read")
        }
        if json {
            StandardOutput.writeJSON { report.write(to: &$0) }
        } else {
            StandardOutput.write(lines: Self.text(of: report))
        }
        if !report.word.isHealthy { throw FleetFailure(.found) }
    }

    static func text(of report: AgentReport) -> String {
        // The word changes only once events have waited for a while.
        let isSending = report.word == .connected && report.behind > 0
        var text = """
            \(report.word.rawValue): \(isSending ? FleetWord.behind.sentence : report.word.sentence)
            since:   \(report.since)
            host:    \(report.host)
            servers: \(report.servers.joined(separator: ", "))
            waiting: \(report.behind) events; \(report.figures.acknowledged) acknowledged, \
            \(report.figures.dropped) dropped

            """
        if report.queueIsHeld {
            let reason = report.queueReason.map { ": \(DisplayText.sanitized($0))" } ?? ""
            text += "queue:   held by the fleet\(reason)\n"
        }
        if let error = report.error, !report.word.isHealthy { text += "error:   \(DisplayText.sanitized(error))\n" }
        return text
    }

    /// Reads the journal as the agent does, and prints what the filter leaves of it.
    private func showLines() throws {
        let filter = try options.configuration().filter
        do throws(ControlError) {
            var client = try ControlClient(path: options.socketPath)
            var query = JournalQuery(limit: 500)
            var output: [UInt8] = []
            while true {
                let page = try client.journal(query)
                for record in page.events {
                    guard let line = JournalEntry(record, filter).line else { continue }
                    output += line + [UInt8(ascii: "\n")]
                }
                StandardOutput.write(output)
                output = []
                if page.isComplete { return }
                query = query.following(page)
            }
        } catch {
            throw FleetFailure(.unavailable, error.description)
        }
    }
}
