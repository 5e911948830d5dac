import ReachCore
import ReachTransfer
import Testing

@testable import ReachProbe

/// What a diagnosis makes of an exchange's report.
@Suite struct ExchangeAnswerTests {
    private let url: TransferURL

    init() throws { url = try TransferURL("https://a.example/") }

    private func hop(_ change: (inout TransferHop) throws -> Void) rethrows -> TransferHop {
        var hop = TransferHop(url: url, method: "GET", phases: TransferPhases(started: BootTime(nanoseconds: 1)))
        try change(&hop)
        return hop
    }

    private func certificate(from first: Int64, until last: Int64) throws -> PeerCertificate {
        PeerCertificate(
            validFrom: Timestamp(nanosecondsSince1970: first), validUntil: Timestamp(nanosecondsSince1970: last),
            subject: "CN=a.example", issuer: "CN=Root", names: ["a.example"],
            publicKeyFingerprint: try #require(SecurityPolicy.Digest(bytes: [UInt8](repeating: 0, count: 32))),
            verification: 0)
    }

    @Test(arguments: [(1, 2, true), (2, 2, true), (3, 2, false)] as [(Int64, Int64, Bool)])
    func `a certificate that ends before it begins has no validity, but an issuer`(
        first: Int64, last: Int64, isValid: Bool
    ) throws {
        let hop = try hop { $0.certificate = try certificate(from: first, until: last) }
        let failure = TransferFailure(.certificateExpired, "it has expired")
        let answer = ExchangeAttempt.answer(
            TransferReport(outcome: .failure(failure), hops: [hop]), nil, isSecure: true)
        #expect((answer.validity != nil) == isValid && answer.issuer == "CN=Root")
        #expect(answer.ending == .failure(.certificateExpired, "it has expired"))
    }

    @Test(
        arguments: [(-10, 10, true), (0, 10, true), (-10, 0, true), (1, 10, false), (-10, -1, false)]
            as [(Int64, Int64, Bool)])
    func `a certificate is judged by the server's clock, too`(first: Int64, last: Int64, isValid: Bool) throws {
        let date = try #require(HTTPDate.sent("Thu, 19 Nov 2026 12:26:40 GMT", age: nil))
        let second: Int64 = 1_000_000_000
        let hop = try hop {
            $0.certificate = try certificate(
                from: date.nanosecondsSince1970 + first * second, until: date.nanosecondsSince1970 + last * second)
        }
        let head = ResponseHead(
            status: 200, version: "HTTP/1.1",
            fields: [HeaderField("Date", "Thu, 19 Nov 2026 12:26:40 GMT"), HeaderField("Location", "/x")])
        let answer = ExchangeAttempt.answer(TransferReport(outcome: .success(head), hops: [hop]), nil, isSecure: true)
        #expect(answer.isValidByServersClock == isValid && answer.clockSkew != nil && answer.location == "/x")
    }

    @Test(
        arguments: [
            (.connectTimeout, .silent(.connect)), (.totalTimeout, .silent(.connect)),
            (.connectionReset, .reset(.connect)),
            (.connectionRefused, .refused), (.hostUnreachable, .unreachable), (.tlsHandshake, .handshake),
            (.certificateExpired, .certificateExpired), (.certificateNotYetValid, .certificateNotYetValid),
            (.certificateWrongHost, .certificateWrongHost), (.certificateUntrusted, .certificateUntrusted),
            (.badResponse, .notHTTP), (.proxyFailed, .proxyFailed), (.proxyRefused, .proxyRefused),
            (.proxyAuthentication, .proxyAuthentication), (.outOfMemory, .local),
        ] as [(TransferFailure.Reason, ExchangeAnswer.Failure)])
    func `each failure has its meaning`(reason: TransferFailure.Reason, expected: ExchangeAnswer.Failure) {
        let report = TransferReport(outcome: .failure(TransferFailure(reason, "x")), hops: [hop { _ in }])
        #expect(ExchangeAttempt.answer(report, nil, isSecure: true).ending == .failure(expected, "x"))
    }

    @Test func `silence belongs to the phase that did not end`() {
        let silence = TransferFailure(.totalTimeout, "x")
        func phase(isSecure: Bool, _ change: (inout TransferPhases) -> Void) -> ExchangeAnswer.Ending {
            let hop = hop { change(&$0.phases) }
            return ExchangeAttempt.answer(
                TransferReport(outcome: .failure(silence), hops: [hop]), nil, isSecure: isSecure
            ).ending
        }
        let later = BootTime(nanoseconds: 2)
        #expect(phase(isSecure: true) { _ in } == .failure(.silent(.connect), "x"))
        #expect(phase(isSecure: true) { $0.connected = later } == .failure(.silent(.tls), "x"))
        #expect(phase(isSecure: false) { $0.connected = later } == .failure(.silent(.http), "x"))
        #expect(phase(isSecure: true) { ($0.connected, $0.secured) = (later, later) } == .failure(.silent(.http), "x"))
    }
}
