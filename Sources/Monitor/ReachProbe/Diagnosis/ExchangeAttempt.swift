internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// A TLS handshake or an HTTP request to one address, by a new connection, or through a proxy.
final class ExchangeAttempt: DiagnosisAttempt {
    private let transfers: TransferEngine
    private var id: TransferID?

    /// Small enough for any path: IPv4 hosts must accept packets of 576 bytes (RFC 791).
    private static let smallSegmentBytes: Int32 = 536

    /// - Parameters:
    ///   - page: The page with a known answer, if the destination is one.
    ///   - roundTrip: How long a connection took, on which patience depends.
    init(
        _ exchange: DiagnosisExchange, _ page: ConnectivityEndpoint?, roundTrip: Duration?,
        _ transfers: TransferEngine, _ loop: EventLoop, _ completion: @escaping (ExchangeAnswer) -> Void
    ) {
        self.transfers = transfers
        do {
            let isSecure = exchange.url.lowercased().hasUTF8Prefix("https")
            id = transfers.start(
                try Self.request(for: exchange, roundTrip),
                handler: TransferHandler { event in
                    guard case .finished(let report) = event else { return }
                    completion(Self.answer(report, page, isSecure: isSecure))
                })
        } catch {
            let answer = ExchangeAnswer(.failure(.local, "\(error)"))
            loop.afterEvents { completion(answer) }
        }
    }

    deinit { id.map(transfers.cancel) }

    private static func request(for exchange: DiagnosisExchange, _ roundTrip: Duration?) throws -> TransferRequest {
        let destination = exchange.destination
        var request = TransferRequest(url: try TransferURL(exchange.url))
        request.headers = [HeaderField("User-Agent", "reach"), HeaderField("Accept", "*/*")]
        request.owner = .probes
        if let proxy = destination.proxy {
            request.proxy = .explicit(try TransferURL(proxy: proxy.url))
        } else {
            request.addresses = [exchange.address.address]
        }
        let least =
            exchange.variant == .normal ? DiagnosisRunner.Limit.exchange : DiagnosisRunner.Limit.secondExchange
        // A connection, a handshake and a request take a round trip each, whatever time the server takes besides.
        let limit = min(least + (roundTrip ?? .zero) * 3, DiagnosisRunner.Limit.slowExchange)
        request.timeouts = TransferTimeouts(connect: limit, total: limit)
        request.limit = ResponseLimit(bodyBytes: UInt64(EndpointResponse.bodyLimitBytes), action: .stop)
        request.version = .http1
        request.connection = destination.exchange == .tls ? .connectOnly : .fresh
        switch exchange.variant {
        case .normal, .again: break
        case .smallSegments: request.segmentBytes = smallSegmentBytes
        case .anyCertificate:
            request.security = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
        }
        return request
    }

    // MARK: - The answer

    static func answer(
        _ report: TransferReport, _ page: ConnectivityEndpoint?, isSecure: Bool
    ) -> ExchangeAnswer {
        var answer: ExchangeAnswer
        switch report.outcome {
        case .success(let head?):
            answer = ExchangeAnswer(.response(head.status), location: head["Location"])
            if let date = HTTPDate.sent(head["Date"], age: head["Age"]) {
                answer.clockSkew = SystemClock.now.wall.duration(to: date)
                let certificate = report.hops.last?.certificate
                answer.isValidByServersClock =
                    certificate.map { $0.validFrom <= date && date <= $0.validUntil } ?? false
            }
            answer.page = page.map { Page(EndpointFinding(EndpointAnswer(report), from: $0)) }
        case .success(nil): answer = ExchangeAnswer(.secured)
        case .failure(let failure):
            answer = ExchangeAnswer(.failure(Self.failure(failure, report, isSecure), failure.message))
        }
        if let certificate = report.hops.last?.certificate, certificate.validFrom <= certificate.validUntil {
            answer.validity = certificate.validFrom...certificate.validUntil
        }
        answer.issuer = report.hops.last?.certificate?.issuer
        return answer
    }

    private typealias Page = ExchangeAnswer.Page

    private static func failure(
        _ failure: TransferFailure, _ report: TransferReport, _ isSecure: Bool
    ) -> ExchangeAnswer.Failure {
        switch failure.reason {
        case .connectTimeout, .totalTimeout, .idleTimeout, .connectionSilent: .silent(phase(of: report, isSecure))
        case .connectionReset, .emptyResponse, .truncated, .sendFailed, .connectFailed:
            .reset(phase(of: report, isSecure))
        case .connectionRefused: .refused
        case .hostUnreachable: .unreachable
        case .tlsHandshake, .clientCertificate, .http2: .handshake
        case .certificateExpired: .certificateExpired
        case .certificateNotYetValid: .certificateNotYetValid
        case .certificateWrongHost, .pinMismatch: .certificateWrongHost
        case .certificateUntrusted, .certificateInvalid: .certificateUntrusted
        case .badResponse, .badEncoding, .headerTooLarge: .notHTTP
        case .proxyFailed: .proxyFailed
        case .proxyRefused: .proxyRefused
        case .proxyAuthentication: .proxyAuthentication
        default: .local
        }
    }

    private static func phase(of report: TransferReport, _ isSecure: Bool) -> ExchangeAnswer.Phase {
        guard let phases = report.hops.last?.phases, phases.connected != nil else { return .connect }
        return isSecure && phases.secured == nil ? .tls : .http
    }
}

extension ExchangeAnswer.Page {
    fileprivate init(_ finding: EndpointFinding) {
        switch finding {
        case .proof: self = .expected
        case .portal(let url): self = .portal(url)
        case .failure, .inconclusive: self = .unexpected
        }
    }
}

extension DiagnosisExchange {
    /// The URL that libcurl gets: for a bare handshake, that of a web server at the same port.
    fileprivate var url: String {
        let port = destination.proxy == nil ? port : destination.ports.first ?? port
        if case .http(let url)? = destination.exchange(on: port) { return url }
        switch destination.host {
        case .address(let host) where host.family == .ipv6:
            return "https://[\(host.address)\(host.zone.map { "%25" + $0 } ?? "")]:\(port)/"
        case .address(let host): return "https://\(host.address):\(port)/"
        case .name(let name): return "https://\(name):\(port)/"
        }
    }
}
