import ReachCore
import ReachProbe
import ReachRecords

/// Handshakes and requests in a drawn Internet, and whether the target works there.
extension DrawnAnswers {
    func answer(to exchange: DiagnosisExchange) -> ExchangeAnswer {
        if exchange.destination.proxy != nil { return answerByProxy(to: exchange) }
        let isSecure = exchange.destination.isSecure(on: exchange.port)
        let isLarge = !exchange.destination.isEndpoint && exchange.variant != .smallSegments
        let end = station(of: exchange.address) ?? .site(.second)
        let flow = "exchange \(exchange.destination.title) \(exchange.variant)"
        if exchangeFate(exchange, flow, isLarge: false) != .arrives {
            return ExchangeAnswer(.failure(.silent(.connect), "timed out"))
        }
        if isLarge, exchangeFate(exchange, flow, isLarge: true) != .arrives {
            return ExchangeAnswer(.failure(.silent(isSecure ? .tls : .http), "timed out"))
        }
        if let answer = byRouters(on: internet.way(to: end), exchange, isSecure) { return answer }
        if end == .site(.target), let answer = byServer(exchange, isSecure) { return answer }
        let page: ExchangeAnswer.Page? = exchange.destination.isEndpoint ? .expected : nil
        if exchange.destination.exchange(on: exchange.port) == .tls { return ExchangeAnswer(.secured) }
        return ExchangeAnswer(
            .response(exchange.destination.isEndpoint ? 204 : 200), page: page,
            clockSkew: internet.has(.wrongClock, .machine) ? .seconds(400_000) : .zero)
    }

    /// What comes by the proxy, which finds names by itself.
    private func answerByProxy(to exchange: DiagnosisExchange) -> ExchangeAnswer {
        let flow = "exchange \(exchange.destination.title) \(exchange.variant)"
        if exchangeFate(exchange, flow, isLarge: false) != .arrives {
            return ExchangeAnswer(.failure(.silent(.connect), "timed out"))
        }
        let port = exchange.destination.ports.first ?? 80
        let isSecure = exchange.destination.isSecure(on: port)
        let isLarge = exchange.variant != .smallSegments
        if isLarge, exchangeFate(exchange, flow, isLarge: true) != .arrives {
            return ExchangeAnswer(.failure(.silent(isSecure ? .tls : .http), "timed out"))
        }
        if internet.has(.proxyMute, .proxy) {
            return ExchangeAnswer(.failure(.silent(isSecure ? .tls : .http), "timed out"))
        }
        if internet.has(.wantsLogin, .proxy) {
            return isSecure ? ExchangeAnswer(.failure(.proxyAuthentication, "407")) : ExchangeAnswer(.response(407))
        }
        var onward = internet
        onward.proxy = nil
        onward.faults.removeAll { fault in
            switch fault.station {
            case .machine: fault.kind != .wrongClock
            case .gateway: internet.proxy == .internet || fault.kind == .machineTwin
            case .router: internet.proxy == .internet
            case .site, .resolver, .secondLine, .proxy, .secondRouter: false
            }
        }
        var direct = exchange.destination
        direct.proxy = nil
        let host = HostAddress(internet.address(of: .target, exchange.address.family))
        let answers = DrawnAnswers(internet: onward)
        guard answers.connection(to: host, port) == .connected else {
            return isSecure ? ExchangeAnswer(.failure(.proxyFailed, "502")) : ExchangeAnswer(.response(502))
        }
        return answers.answer(to: DiagnosisExchange(direct, at: host, port: port, variant: exchange.variant))
    }

    /// What somebody on the way answers in place of the host.
    private func byRouters(
        on way: [DrawnStation], _ exchange: DiagnosisExchange, _ isSecure: Bool
    ) -> ExchangeAnswer? {
        let isPage = exchange.destination.isEndpoint
        for station in way {
            if internet.has(.intercepts, station), isSecure, exchange.variant != .anyCertificate {
                var answer = ExchangeAnswer(.failure(.certificateUntrusted, "self-signed"))
                answer.issuer = "CN=Box"
                return answer
            }
            guard !isSecure else { continue }
            if internet.has(.redirects, station) {
                return ExchangeAnswer(
                    .response(302), page: isPage ? .portal("http://login.example/") : nil,
                    location: "http://login.example/")
            }
            if internet.has(.answers503, station) {
                return ExchangeAnswer(.response(503), page: isPage ? .unexpected : nil)
            }
        }
        return nil
    }

    private func byServer(_ exchange: DiagnosisExchange, _ isSecure: Bool) -> ExchangeAnswer? {
        let site = DrawnStation.site(.target)
        func failed(_ failure: ExchangeAnswer.Failure) -> ExchangeAnswer {
            var answer = ExchangeAnswer(.failure(failure, "a reason"))
            answer.issuer = "CN=Known"
            return answer
        }
        if internet.has(.resets, site) { return failed(.reset(isSecure ? .tls : .http)) }
        if isSecure {
            if internet.has(.silentTLS, site) { return failed(.silent(.tls)) }
            if exchange.variant == .anyCertificate {
                let isClock = internet.has(.wrongClock, .machine)
                var answer = ExchangeAnswer(.response(200), clockSkew: isClock ? .seconds(400_000) : .zero)
                answer.isValidByServersClock = isClock
                return answer
            }
            if internet.has(.wrongClock, .machine) { return failed(.certificateNotYetValid) }
            if internet.has(.expired, site) { return failed(.certificateExpired) }
            if internet.has(.untrusted, site) { return failed(.certificateUntrusted) }
            if internet.has(.wrongHost, site) { return failed(.certificateWrongHost) }
        }
        if internet.has(.silentHTTP, site) { return failed(.silent(.http)) }
        if internet.has(.noHTTP, site) { return failed(.notHTTP) }
        if internet.has(.error500, site) { return ExchangeAnswer(.response(500)) }
        if internet.has(.missing404, site) { return ExchangeAnswer(.response(404)) }
        return nil
    }

    // MARK: - The truth

    /// Whether the target can be used; `nil` where nothing in the drawn Internet can show it.
    var works: Bool? {
        guard internet.target != .internet else {
            return internet.endpoints.isEmpty ? nil : endpoints.contains(where: works)
        }
        return target.map(works)
    }

    var target: DiagnosisDestination? {
        var read = (try? DiagnosisDestination.read(internet.targetText)) ?? nil
        read?.proxy = internet.proxyOfTarget
        return read
    }

    var endpoints: [DiagnosisDestination] {
        internet.endpointTexts.compactMap { url in
            guard let read = (try? DiagnosisDestination.read(url)) ?? nil else { return nil }
            return DiagnosisDestination(
                title: url, host: read.host, ports: read.ports, exchange: read.exchange, isEndpoint: true)
        }
    }

    /// What a gateway did before keeps the kernel from nothing.
    private func canSend(to host: HostAddress) -> Bool {
        guard case .path(let fact) = result(of: .path(host)) else { return false }
        return fact[host.family].status == .reachable || fact[host.family].reason == .gatewayUnreachable
    }

    private func worksByProxy(_ destination: DiagnosisDestination, _ host: HostAddress, _ port: UInt16) -> Bool {
        guard canSend(to: host) else { return false }
        return connection(to: host, port) == .connected
            && [.normal, .again].contains { variant in
                isGood(answer(to: DiagnosisExchange(destination, at: host, port: port, variant: variant)))
            }
    }

    private func works(_ destination: DiagnosisDestination) -> Bool {
        if let proxy = destination.proxy, case .address(let host) = proxy.host {
            return worksByProxy(destination, host, proxy.port)
        }
        let hosts: [HostAddress]
        let isTarget = !destination.isEndpoint
        switch destination.host {
        case .address(let host): hosts = [host]
        case .name(let name):
            let answers = ["", " again"].map { resolution(of: name, attempt: $0) }
            hosts = answers.flatMap { answer -> [HostAddress] in
                if case .addresses(let found) = answer { found.map { HostAddress($0) } } else { [] }
            }
        }
        return hosts.contains { host in
            guard internet.families.contains(host.family), !isTarget || station(of: host) == .site(.target),
                canSend(to: host)
            else { return false }
            return works(destination, at: host)
        }
    }

    private func works(_ destination: DiagnosisDestination, at host: HostAddress) -> Bool {
        if destination.isBare || destination.ports.isEmpty, ping(host, isLarge: false) == .answered { return true }
        // Where no port is named, any answer is enough.
        if destination.isBare, case .traced(let trace) = result(of: .trace(host)), trace.end == .reached { return true }
        return destination.ports.contains { port in
            let answer = connection(to: host, port)
            // A login page is none of the host's.
            let isOfPortal = port == 80 && internet.way(to: .site(.target)).contains { internet.has(.redirects, $0) }
            if destination.isBare, isOfPortal { return false }
            guard answer == .connected else { return answer == .refused && destination.isBare }
            guard destination.exchange(on: port) != nil, !destination.isBare else { return true }
            let exchange = DiagnosisExchange(destination, at: host, port: port)
            let again = DiagnosisExchange(destination, at: host, port: port, variant: .again)
            return [exchange, again].contains { isGood(self.answer(to: $0)) }
        }
    }

    private func isGood(_ answer: ExchangeAnswer) -> Bool {
        guard case .response(let status) = answer.ending else { return answer.ending == .secured }
        return status < 400 && status != 302 && answer.page != .unexpected
    }
}
