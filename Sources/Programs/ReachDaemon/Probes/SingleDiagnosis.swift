internal import Glibc
internal import ReachControl
package import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTransfer

/// A test of the whole way to a target, without a daemon: `reachd --diagnose`.
package enum SingleDiagnosis {
    /// - Parameter configuration: The path of a configuration file, which may name pages with known answers; `nil` for the
    ///   user's own, or else the machine's.
    /// - Returns: The diagnosis, and its line of JSON.
    /// - Throws: Why nothing could be tested: a `TargetError` about the target, or an error of this machine.
    package static func run(_ text: String, configuration: String?) throws -> (Diagnosis, [UInt8]) {
        var target = try DiagnosisDestination.read(text)
        let proxies = EnvironmentProxies { name in getenv(name).map { String(cString: $0) } }
        let proxy = target.flatMap { proxies.proxy(for: $0) }
        target?.proxy = proxy
        let pages = try pages(configuration)
        // With a target, two endpoints are enough.
        let endpoints = pages.prefix(target == nil ? .max : 2).map(\.destination)
        let evidence = DiagnosisEvidence(title: text, target: target, endpoints: endpoints, canary: canary)
        let loop = try EventLoop()
        let started = SystemClock.now
        var diagnosis: Diagnosis?
        let runner = DiagnosisRunner(
            evidence, pages: Dictionary(pages.map { ($0.destination, $0.page) }) { first, _ in first }, loop: loop,
            transfers: try TransferEngine(loop: loop), snapshot: try KernelSnapshot()
        ) { result in
            diagnosis = result
            loop.stop()
        }
        runner.start()
        loop.run()
        guard let diagnosis else { throw TargetError(description: "the test ended without a result") }
        var json = JSONWriter()
        json.diagnosis(diagnosis, started: started, duration: SystemClock.boot - started.boot)
        json.newline()
        return (diagnosis, json.bytes)
    }

    /// A name that cannot exist (RFC 6761 section 6.4), another one each time, so that no cache knows it.
    private static var canary: String {
        "reach-" + String(UInt32.random(in: .min ... .max), radix: 36) + ".invalid"
    }

    /// The pages with a known answer, of the configuration.
    private static func pages(
        _ path: String?
    ) throws -> [(destination: DiagnosisDestination, page: ConnectivityEndpoint)] {
        let isRoot = getuid() == 0
        var endpoints: [ConnectivityEndpoint] = []
        // The user's own file first, then the machine's.
        for isRoot in path != nil || isRoot ? [isRoot] : [false, true] where endpoints.isEmpty {
            let file = ConfigurationFile.find(
                named: path, isRoot: isRoot, environment: SocketPath.processEnvironment)
            // Without --config, a file that cannot be read must not keep a broken machine from being tested.
            endpoints = path == nil ? (try? file?.load())?.connectivity.endpoints ?? [] : try load(file)
        }
        return destinations(of: endpoints)
    }

    private static func load(_ file: ConfigurationFile?) throws -> [ConnectivityEndpoint] {
        try file?.load().connectivity.endpoints ?? []
    }

    private static func destinations(
        of endpoints: [ConnectivityEndpoint]
    ) -> [(destination: DiagnosisDestination, page: ConnectivityEndpoint)] {
        endpoints.map { page in
            let host: DiagnosisDestination.Host =
                IPAddress(page.host).map { .address(HostAddress($0)) } ?? .name(page.host)
            let destination = DiagnosisDestination(
                title: page.url, host: host, ports: [page.port], exchange: .http(page.url), isEndpoint: true)
            return (destination, page)
        }
    }
}
