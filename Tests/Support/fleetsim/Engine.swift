import ReachCore
import ReachFleet
import ReachFleetLink
import Synchronization

/// Does what a machine asks for, by requests that block, over a connection that many hosts share or that is a host's
/// own.
struct Engine {
    private let jetStream: JetStream
    private let link: NATSLink
    private let ending = Ending()

    /// Why the connection ended.
    private final class Ending: Sendable {
        let kind = Mutex<NATSError.Kind?>(nil)
    }

    init(_ settings: NATSSettings) throws(NATSError) {
        link = try NATSLink.connect(settings) { [ending] event in
            ending.kind.withLock { kind in
                switch event {
                // The reason comes before the end.
                case .fault(let error) where error.kind == .refused: kind = .refused
                case .disconnected(let error), .closed(let error): kind = kind ?? error.kind
                case .fault, .reconnected, .lameDuck: break
                }
            }
        }
        var jetStream = JetStream(link)
        jetStream.limit = .seconds(5)
        self.jetStream = jetStream
    }

    static func loss(_ kind: NATSError.Kind?) -> FleetMachine.Loss { kind == .refused ? .refused : .unreachable }

    /// Why there is no connection any more; `nil` while there is one.
    var loss: FleetMachine.Loss? {
        link.connectedServer == nil ? Self.loss(ending.kind.withLock { $0 }) : nil
    }

    var server: FleetMachine.Server {
        FleetMachine.Server(start: link.connectedServerID, payloadLimit: link.maxPayload)
    }

    func readLease(of host: String) -> FleetMachine.LeaseAnswer {
        guard let entry = try? jetStream.entry(host, in: FleetNames.lease) else { return .none }
        guard let value = entry.value else { return .deleted(at: entry.time) }
        return (try? HostLease(value)).map { .renewed($0, at: entry.time) } ?? .none
    }

    func readMark(of host: String) -> FleetMachine.MarkAnswer {
        do throws(NATSError) {
            guard let value = try jetStream.entry(host, in: FleetNames.state)?.value, let state = try? HostState(value),
                let log = state.log
            else { return .none }
            return .had(JournalCursor(log: log, n: state.n))
        } catch {
            return .unavailable
        }
    }

    func readTail(of host: String) -> FleetMachine.TailAnswer {
        do throws(NATSError) {
            guard let message = try jetStream.last(FleetNames.eventSubject(of: host), in: FleetNames.events) else {
                return .none
            }
            guard let chunk = try? EventChunk(headers: message.headers, payload: message.payload) else {
                return .foreign(sequence: message.sequence)
            }
            return .message(sequence: message.sequence, chunk)
        } catch {
            return .unavailable
        }
    }

    func publish(_ chunk: EventChunk, of host: String, expecting tail: UInt64) -> FleetMachine.PublishAnswer {
        do throws(NATSError) {
            let ack = try JetStreamReply.ack(
                try link.request(
                    FleetNames.eventSubject(of: host), headers: chunk.headers(expecting: tail), chunk.payload,
                    within: jetStream.limit))
            return .stored(sequence: ack.sequence, isDuplicate: ack.isDuplicate)
        } catch {
            switch error.kind {
            case .wrongLastSequence(let last): return .wrongTail(last: last)
            case .tooLarge: return .tooLarge
            case .full: return .full
            default: return .unavailable
            }
        }
    }

    func put(_ state: HostState, of host: String) -> Bool {
        (try? jetStream.put(host, in: FleetNames.state, state.bytes)) != nil
    }

    func put(_ lease: HostLease, of host: String) -> Bool {
        let subject = FleetNames.subject(ofKey: host, in: FleetNames.lease)
        return (try? jetStream.append(subject, lease.bytes)) != nil
    }

    func deleteLease(of host: String) { try? jetStream.delete(host, in: FleetNames.lease) }
}
