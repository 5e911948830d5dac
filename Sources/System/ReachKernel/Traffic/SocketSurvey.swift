internal import ReachCore
internal import ReachLoop

/// Answers to questions about this machine's open TCP sockets. Each waits for the kernel, see ``SocketDump``.
enum SocketSurvey {
    static func answer(_ question: TrafficQuestion) -> TrafficAnswer {
        let sockets = question.sockets
        guard !sockets.sources.isEmpty else { return .still }
        do throws(NetlinkError) {
            let ending = try SocketDump().read(
                sockets.family, states: DiagnosedSocket.connectedStates, sockets.conditions
            ) { !question.excludes($0.remote) && $0.moved(within: question.window) }
            switch ending {
            case .complete: return .still
            case .stopped: return .moving
            case .tooMany: return .tooMany
            }
        } catch {
            return .notAsked
        }
    }

    static func answer(_ question: SilenceQuestion) -> SilenceAnswer {
        let sockets = question.sockets
        guard !sockets.sources.isEmpty else { return .sample(SilenceSample()) }
        var sample = SilenceSample()
        do throws(NetlinkError) {
            let ending = try SocketDump().read(
                sockets.family, states: DiagnosedSocket.startedStates, sockets.conditions
            ) { socket in
                guard sockets.has(socket) else { return false }
                sample.add(socket)
                return sample.sinceReceived.map { $0 < question.hearing } ?? false
            }
            switch ending {
            case .complete: return .sample(sample)
            case .stopped: return .heard
            case .tooMany: return .tooMany
            }
        } catch {
            return .notAsked
        }
    }

    /// The segments of the sockets on a path, of ``SegmentCount/socketLimit`` sockets at most; `nil` if the query
    /// failed.
    static func segments(of sockets: PathSockets) -> [SegmentCount]? {
        guard !sockets.sources.isEmpty else { return [] }
        var counts: [SegmentCount] = []
        let ending = try? SocketDump().read(
            sockets.family, states: DiagnosedSocket.connectedStates, sockets.conditions
        ) { socket in
            guard sockets.has(socket), let count = socket.segments else { return false }
            counts.append(count)
            return counts.count == SegmentCount.socketLimit
        }
        return ending == nil ? nil : counts
    }
}

extension PathSockets {
    /// What the kernel checks of each socket.
    fileprivate var conditions: SocketConditions {
        SocketConditions(sources: sources, excluding: excludedPrefixes + own.prefixes(family))
    }
}
