internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachTerminal

/// A connection of somebody who writes what is wanted or noted, and records it.
struct OperatorSession {
    let link: NATSLink
    let jetStream: JetStream
    /// The public half of the operator's key; `nil` without one.
    let key: String?

    init(_ engine: EngineOptions) throws { self.init(try engine.connect()) }

    init(_ link: NATSLink) {
        self.link = link
        jetStream = JetStream(link)
        key = link.settings.identity.publicKey
    }

    /// Who it is: the key, which the server has checked, and the user's name, which it has not.
    var author: String? {
        let user = Self.user
        guard let key else { return user }
        return (user.map { "\($0), " } ?? "") + "key \(key)"
    }

    static var user: String? { getenv("USER").map { String(cString: $0) } }

    /// The groups that this key is responsible for, as the administrator stored them; none for all hosts.
    func groups() throws(NATSError) -> [String] {
        guard let key else { return [] }
        do throws(NATSError) {
            let entry = try jetStream.entry(OperatorName.noteKey(of: key), in: FleetNames.notes)
            return entry?.value.flatMap { OperatorName($0) }?.groups ?? []
        } catch {
            switch error.kind {
            case .notPermitted, .notFound, .timedOut, .noResponders: throw Self.missing(error)
            default: throw error
            }
        }
    }

    /// Writes an entry of the operators' notes.
    @discardableResult
    func note(_ noteKey: String, _ value: [UInt8]?) throws(NATSError) -> UInt64 {
        guard let value else {
            try jetStream.delete(noteKey, in: FleetNames.notes)
            return 0
        }
        do throws(NATSError) {
            return try jetStream.put(noteKey, in: FleetNames.notes, value)
        } catch {
            guard error.kind == .noResponders else { throw error }
            throw Self.missing(error)
        }
    }

    private static func missing(_ error: NATSError) -> NATSError {
        NATSError(
            error.kind,
            "the bucket \(FleetNames.notes) cannot be used (\(error.description)): print the server's "
                + "configuration again with `reach-fleet config`, reload it, and run `reach-fleet setup`")
    }

    /// Records what was done. What was done stands, so a record that fails is said and is no error.
    func record(_ action: OperatorAction) {
        guard let key else { return }
        var action = action
        action.user = Self.user
        do throws(NATSError) {
            _ = try jetStream.append(FleetNames.auditSubject(ofKey: key), action.bytes)
        } catch {
            let words = DisplayText.sanitized(error.description)
            StandardError.write("reach-fleet: it is done, but not recorded for `reach-fleet audit`: \(words)\n")
        }
    }

    /// The present by the engine's clock.
    func present() throws(NATSError) -> Timestamp { try ServerStatus.present(link) }

    /// Refuses hosts that are neither in the list of hosts nor have reported.
    func check(_ hosts: [String]) throws {
        var known: Set<String> = []
        for bucket in [HostList.bucket, FleetNames.state] {
            do throws(NATSError) {
                try jetStream.entries(of: bucket) { if $0.value != nil { known.insert($0.key) } }
            } catch {
                guard error.kind == .notFound || error.kind == .notPermitted else { throw error }
            }
        }
        for host in hosts where !known.contains(host) {
            throw FleetFailure(
                .unknown, "no host is called '\(host)'" + NearestWord.hint(for: host, among: known.sorted()))
        }
    }

    /// What is noted about a host now.
    func hostNote(_ host: String) throws(NATSError) -> HostNote {
        let entry = try jetStream.entry(HostNote.key(of: host), in: FleetNames.notes)
        return entry?.value.flatMap { try? HostNote($0) } ?? HostNote()
    }

    /// Writes a host's note, or deletes one that says nothing any more.
    func write(_ note: HostNote, of host: String) throws(NATSError) {
        try self.note(HostNote.key(of: host), note.isEmpty ? nil : note.bytes)
    }
}

extension HostNote {
    /// For programs.
    func write(of host: String, to json: inout JSONWriter) {
        json.object { json in
            json.field("v", 1)
            json.field("type", "fleet-note")
            json.field("host", host)
            json.field(
                "labels",
                object: { json in
                    for (name, value) in labels.sorted(by: { $0.key < $1.key }) {
                        json.key(named: name)
                        json.value(value)
                    }
                })
            json.field("retired", retired?.description)
        }
    }
}
