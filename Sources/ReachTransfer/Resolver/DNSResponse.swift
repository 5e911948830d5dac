package import ReachCore

/// A name server's answer, read with bounds: a name's pointers go back only, and nothing beyond the message is read.
package struct DNSResponse: Hashable, Sendable {
    /// Why bytes are no answer.
    package enum Mistake: Error, Hashable, Sendable {
        case cut
        case notAResponse
        case badName
    }

    /// RFC 1035 section 4.1.1.
    package enum Code {
        package static let good: UInt8 = 0
        package static let formatError: UInt8 = 1
        package static let nameError: UInt8 = 3
    }

    package struct Record: Hashable, Sendable {
        package enum Content: Hashable, Sendable {
            case address(IPAddress)
            case alias(DNSName)
            /// Of NS and PTR.
            case name(DNSName)
            /// Of MX.
            case exchange(preference: UInt16, DNSName)
            /// Of SRV (RFC 2782).
            case service(priority: UInt16, weight: UInt16, port: UInt16, DNSName)
            /// How long "there is none" holds, in seconds (RFC 2308 section 4).
            case startOfAuthority(negativeSeconds: UInt32)
            case other([UInt8])
        }

        package let name: DNSName
        package let type: DNSType
        /// Seconds.
        package let timeToLive: UInt32
        package let content: Content
    }

    package let id: UInt16
    /// It did not fit into a datagram: ask by TCP.
    package let isTruncated: Bool
    package let code: UInt8
    /// As the server repeats it; `nil` where it does not.
    package let question: (name: DNSName, type: DNSType)?
    package let answers: [Record]
    package let authorities: [Record]

    static let internet: UInt16 = 1

    package init(_ bytes: [UInt8]) throws(Mistake) {
        var reader = DNSReader(bytes)
        id = try reader.number()
        let flags = try reader.number()
        guard flags & 0x8000 != 0, flags & 0x7800 == 0 else { throw .notAResponse }
        isTruncated = flags & 0x0200 != 0
        code = UInt8(flags & 15)
        let counts = (
            questions: try reader.number(), answers: try reader.number(), authorities: try reader.number(),
            additional: try reader.number()
        )
        guard counts.questions <= 1 else { throw .notAResponse }
        if counts.questions == 1 {
            let name = try reader.name()
            let type = DNSType(rawValue: try reader.number())
            guard try reader.number() == Self.internet else { throw .notAResponse }
            question = (name, type)
        } else {
            question = nil
        }
        // A server may cut in the middle of a record.
        answers = try Self.records(counts.answers, &reader, mayBeCut: isTruncated)
        authorities = try Self.records(counts.authorities, &reader, mayBeCut: isTruncated)
    }

    /// Whether it answers this question: a datagram may be a late answer, or a forged one.
    package func answers(_ query: DNSQuery) -> Bool {
        guard id == query.id else { return false }
        // Without the question it can only say that it did not understand.
        guard let question else { return code != Code.good && answers.isEmpty }
        return question.name == query.name && question.type == query.type
    }

    private static func records(
        _ count: UInt16, _ reader: inout DNSReader, mayBeCut: Bool
    ) throws(Mistake) -> [Record] {
        var records: [Record] = []
        for _ in 0..<count {
            do throws(Mistake) {
                if let record = try reader.record() { records.append(record) }
            } catch {
                guard mayBeCut else { throw error }
                break
            }
        }
        return records
    }

    package static func == (left: DNSResponse, right: DNSResponse) -> Bool {
        left.id == right.id && left.isTruncated == right.isTruncated && left.code == right.code
            && left.question?.name == right.question?.name && left.question?.type == right.question?.type
            && left.answers == right.answers && left.authorities == right.authorities
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(answers)
    }
}
