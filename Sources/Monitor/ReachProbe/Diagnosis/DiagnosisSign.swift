internal import ReachCore
internal import ReachRecords

extension DiagnosisEvidence {
    /// What came from a host, the most that says most.
    enum Sign: Int, Comparable, Sendable {
        case silence
        /// This machine itself may have made it.
        case refusal
        case answer

        static func < (left: Sign, right: Sign) -> Bool { left.rawValue < right.rawValue }

        /// - Returns: `nil` where a result says nothing of a host.
        static func of(_ task: DiagnosisTask, _ result: DiagnosisResult) -> (HostAddress, Sign)? {
            switch (task, result) {
            case (.connect(let host, _), .connected(let answer)): (host, Sign(answer))
            case (.ping(let host, _), .pinged(.answered)): (host, .answer)
            case (.ping(let host, _), .pinged(.silent)): (host, .silence)
            case (.sample(let host), .sampled(let sample)): sample.answered > 0 ? (host, .answer) : nil
            case (.trace(let host), .traced(let trace)): trace.end == .reached ? (host, .answer) : nil
            case (.ask(let question), .asked(let answer)):
                (question.server.host, answer.isSign ? .answer : .silence)
            default: nil
            }
        }

        private init(_ answer: ConnectionAnswer) {
            switch answer {
            case .connected: self = .answer
            case .refused: self = .refusal
            case .unreachable, .silent, .failed: self = .silence
            }
        }
    }
}
