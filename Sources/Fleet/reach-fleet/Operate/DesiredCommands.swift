internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

struct HoldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Hold the queues of hosts.",
        discussion: """
            Writes what is wanted; a host applies it if its configuration accepts \"queue-hold\", also after it was \
            away. A larger --fraction of the same --rollout includes the hosts of a smaller one.

            Exit status: 0 written; with --wait 1 if not all hosts have applied it in time.

            Example: reach fleet hold --group shops --reason "line is full" --for 2h
            """)

    @OptionGroup var desired: DesiredOptions

    func run() throws { try desired.run(.held) }
}

struct ReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Release the queues of hosts that `hold` holds.",
        discussion: """
            Exit status: 0 written; with --wait 1 if not all hosts have applied it in time.

            Example: reach fleet release --group shops
            """)

    @OptionGroup var desired: DesiredOptions

    func run() throws { try desired.run(.released) }
}

/// Which hosts a document is for, and what it says.
struct DesiredOptions: ParsableArguments {
    @Flag(help: "All hosts.")
    var all = false

    @Option(help: "The hosts of a group.", transform: { try FleetArgument.host($0) })
    var group: String?

    @Option(help: "One host.", transform: { try FleetArgument.host($0) })
    var host: String?

    @Option(
        help: ArgumentHelp("Only this part of the hosts.", valueName: "percent"),
        transform: { text in
            let number = text.hasUTF8Suffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
            guard let number, number > 0, number <= 1 else {
                throw ValidationError("'\(text)' is not a part such as 5% or 0.05")
            }
            return number
        })
    var fraction: Double = 1

    @Option(help: "The name of a rollout, by which hosts draw lots.")
    var rollout = "default"

    @Option(help: "Why, for people on the hosts.")
    var reason: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long it is valid.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var validity: Duration?

    @Option(
        help: ArgumentHelp("Wait until the hosts have applied it, at most this long.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var wait: Duration?

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        let given = (all ? 1 : 0) + (group == nil ? 0 : 1) + (host == nil ? 0 : 1)
        guard given == 1 else { throw ValidationError("one of --all, --group and --host says which hosts") }
        for text in [reason, rollout].compactMap(\.self) where text.utf8.count > 256 {
            throw ValidationError("--reason and --rollout have at most 256 bytes")
        }
    }

    private var key: String { host.map { "host.\($0)" } ?? group.map { "group.\($0)" } ?? "all" }

    func run(_ queue: DesiredState.Queue) throws {
        let session = try OperatorSession(engine)
        let jetStream = session.jetStream
        let list = try HoldTargets(jetStream)
        if let name = group ?? host, let fault = list.fault(name, isGroup: group != nil) {
            throw FleetFailure(.unknown, fault)
        }
        let now = try session.present()
        let document = DesiredState(
            queue: queue, reason: reason, author: session.author, rollout: rollout, fraction: fraction,
            until: validity.map { now + $0 })
        let revision = try jetStream.put(key, in: FleetNames.desired, document.bytes)
        // Hosts that are connected read it now. A server of an earlier configuration lets them hear the writing itself.
        try? session.link.publish(FleetNames.announcementSubject(ofKey: key), document.bytes)
        session.record(
            OperatorAction(
                queue == .held ? .hold : .release, on: AuditTrail.subject(ofKey: key), text: reason, revision: revision)
        )
        let deadline = SystemClock.boot + (wait ?? .zero)
        var progress = try HoldProgress(document, revision, host: host, group: group, list, jetStream)
        while !progress.isComplete, SystemClock.boot < deadline {
            usleep(500_000)
            progress = try HoldProgress(document, revision, host: host, group: group, list, jetStream)
        }
        show(revision, progress)
        if wait != nil, !progress.isComplete { throw FleetFailure(.found) }
    }

    private func show(_ revision: UInt64, _ progress: HoldProgress) {
        guard !json else {
            return StandardOutput.writeJSON {
                $0.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-revision")
                    $0.field("key", key)
                    $0.field("revision", Int64(clamping: revision))
                    $0.field("hosts", Int64(progress.concerned))
                    $0.field("accepting", Int64(progress.accepting))
                    $0.field("applied", Int64(progress.applied))
                }
            }
        }
        StandardOutput.write(lines: "revision \(revision) of \(key): \(progress.sentence)\n")
    }
}
