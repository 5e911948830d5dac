internal import ReachCore
internal import ReachLoop

/// Answers to questions about this machine's open TCP sockets. Each waits for the kernel, see ``SocketDump``.
enum SocketSurvey {
    static func answer(_ question: TrafficQuestion) -> TrafficAnswer {
        guard !question.sources.isEmpty else { return .still }
        do throws(NetlinkError) {
            let conditions = SocketConditions(
                sources: question.sources, excluding: question.excludedPrefixes + question.own.prefixes(question.family)
            )
            let ending = try SocketDump().read(
                question.family, states: DiagnosedSocket.connectedStates, conditions
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
        guard !question.sources.isEmpty else { return .sample(SilenceSample()) }
        var sample = SilenceSample()
        do throws(NetlinkError) {
            let conditions = SocketConditions(
                sources: question.sources, excluding: question.excludedPrefixes + question.own.prefixes(question.family)
            )
            let ending = try SocketDump().read(
                question.family, states: DiagnosedSocket.startedStates, conditions
            ) { socket in
                guard socket.interface == 0 || socket.interface == question.interface,
                    !question.own.contains(socket.remote.address)
                else { return false }
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
    static func answer(_ question: SegmentQuestion) -> [SegmentCount]? {
        guard !question.sources.isEmpty else { return [] }
        var counts: [SegmentCount] = []
        do throws(NetlinkError) {
            let conditions = SocketConditions(
                sources: question.sources, excluding: question.excludedPrefixes + question.own.prefixes(question.family)
            )
            _ = try SocketDump().read(
                question.family, states: DiagnosedSocket.connectedStates, conditions
            ) { socket in
                guard socket.interface == 0 || socket.interface == question.interface,
                    !question.own.contains(socket.remote.address), let count = socket.segments
                else { return false }
                counts.append(count)
                return counts.count == SegmentCount.socketLimit
            }
            return counts
        } catch {
            return nil
        }
    }
}
