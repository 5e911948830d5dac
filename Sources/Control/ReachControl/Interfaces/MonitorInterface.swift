internal import ReachCore
internal import ReachLoop

extension MonitorInterface {
    /// The text of io.reach.Monitor.varlink, which SwiftPM embeds in the code.
    package static let definition = String(decoding: PackageResources.io_reach_Monitor_varlink, as: UTF8.self)

    static func make(
        _ service: any ControlService, _ topics: Topics, _ followers: JournalFollowers
    ) -> VarlinkInterface {
        let methods = [reading(service, topics), managing(service, followers), probeMethods(service)]
        return VarlinkInterface(
            name: name, definition: definition,
            methods: methods.reduce(into: [:]) { $0.merge($1) { first, _ in first } })
    }

    private static func reading(_ service: any ControlService, _ topics: Topics) -> [String: VarlinkInterface.Method] {
        [
            "Status": .init(["target"]) { request throws(VarlinkError) in
                let target = try request.target()
                service.status(of: target.watched, for: request.caller) { result in
                    request.reply(result, "status") { json, state in
                        var state = state
                        state.target = target
                        let now = SystemClock.now
                        json.status(state, source: .daemon, at: now.wall, now.boot)
                    }
                }
            },
            "Watch": .init(["target", "queue", waitingParameter]) { request throws(VarlinkError) in
                let target = try request.target()
                let withRequests = try request.flag("queue")
                let seeksPath = try request.flag(waitingParameter)
                guard request.call.wantsMore else { throw .expectedMore }
                try request.stream(topics, target, withRequests: withRequests, seeksPath: seeksPath)
            },
            "Targets": .init([]) { request throws(VarlinkError) in
                request.reply { json in
                    json.targets(service.targets)
                    json.field("networks", service.networkNames)
                }
            },
            "Links": .init([], cost: .large) { request throws(VarlinkError) in
                service.links(for: request.caller) { result in
                    request.reply(result) { json, reports in
                        let now = SystemClock.now
                        json.field(
                            "links",
                            array: { for report in reports { $0.link(report, source: .daemon, at: now) } })
                    }
                }
            },
            "Explain": .init(["target"], cost: .large) { request throws(VarlinkError) in
                service.explain(try request.target(), for: request.caller) { result in
                    request.reply(result, "explanation") {
                        $0.explanation($1, source: .daemon, at: SystemClock.now)
                    }
                }
            },
        ]
    }

    private static func managing(
        _ service: any ControlService, _ followers: JournalFollowers
    ) -> [String: VarlinkInterface.Method] {
        [
            "NetworkNamespace": .init([]) { request throws(VarlinkError) in
                request.reply {
                    $0.field("inode", NetworkNamespace.inode?.wide)
                    if let vrf = ProcessVRF.binding() { $0.field("vrf", Int64(vrf)) }
                }
            },
            "Journal": journalMethod(service, followers),
            "TestHooks": .init([], access: .changing, cost: .large) { request throws(VarlinkError) in
                service.testHooks(for: request.caller) { request.reply($0) { $0.hookTest($1) } }
            },
            "Reload": .init([], access: .changing) { request throws(VarlinkError) in
                service.reload(for: request.caller) { request.reply($0) { $0.field("at_next_start", $1) } }
            },
        ]
    }
}

extension JSONWriter {
    fileprivate mutating func targets(_ targets: [(name: String, target: Target)]) {
        objects("targets", targets) { json, named in
            json.field("name", named.name as String?)
            json.field("target", named.target.description as String?)
        }
    }
}

extension ControlRequest {
    /// A text parameter; `nil` if it is missing.
    func text(_ name: String) throws(VarlinkError) -> String? {
        guard let value = call.parameters[name], value != .null else { return nil }
        guard let text = value.string else { throw .invalidParameter(name) }
        return text
    }

    /// The parameter `target`; the Internet if it is missing.
    func target() throws(VarlinkError) -> Target {
        guard let text = try text("target") else { return .internet }
        do throws(TargetError) {
            return try Target(text)
        } catch {
            throw MonitorError.invalidTarget(DisplayText.excerpt(text, upTo: 256), reason: error.description).varlink
        }
    }
}
