internal import Glibc
internal import ReachControl
package import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
package import ReachRecords
internal import ReachTransfer

/// A test of the whole way to a target, without a daemon: `reachd --diagnose`.
package enum SingleDiagnosis {
    /// - Parameter configuration: The path of a configuration file, which may name pages with known answers; `nil` for
    ///   the user's own, or else the machine's.
    /// - Returns: The diagnosis, and its line of JSON.
    /// - Throws: Why nothing could be tested: a `TargetError` about the target, or an error of this machine.
    package static func run(_ text: String, configuration: String?) throws -> (Diagnosis, [UInt8]) {
        let files = try configurations(configuration)
        return try run(text, files: files, memory: memory(of: text, files.first))
    }

    /// - Parameters:
    ///   - files: The configurations, of which the first with endpoints names pages with known answers.
    ///   - memory: What a daemon of this network knows that bears on the root cause.
    package static func run(
        _ text: String, files: [Configuration], memory: RootCauseMemory?
    ) throws -> (Diagnosis, [UInt8]) {
        var target = try DiagnosisDestination.read(text)
        let proxies = EnvironmentProxies { name in getenv(name).map { String(cString: $0) } }
        let proxy = target.flatMap { proxies.proxy(for: $0) }
        target?.proxy = proxy
        let connectivity = files.first { !$0.connectivity.endpoints.isEmpty }?.connectivity
        let pages = connectivity.map(destinations) ?? []
        // With a target, two endpoints are enough.
        let endpoints = pages.prefix(target == nil ? .max : 2).map(\.destination)
        let evidence = DiagnosisEvidence(
            title: text, target: target, endpoints: endpoints,
            anchors: files.first?.internet.anchors ?? ReferenceAddresses.standard, canary: canary,
            patience: connectivity?.timeout)
        let loop = try EventLoop()
        let started = SystemClock.now
        var diagnosis: Diagnosis?
        let runner = DiagnosisRunner(
            evidence, pages: Dictionary(pages.map { ($0.destination, $0.page) }) { first, _ in first }, loop: loop,
            transfers: try TransferEngine(loop: loop),
            snapshot: try KernelSnapshot(
                options: files.first?.engineOptions ?? ReachabilityEngine.Options(), memory: memory)
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

    /// The configurations that there are: the user's own first, then the machine's. Pages with a known answer, the
    /// classes of links and what is metered come from them.
    private static func configurations(_ path: String?) throws -> [Configuration] {
        let isRoot = getuid() == 0
        return try (path != nil || isRoot ? [isRoot] : [false, true]).compactMap { isRoot in
            let file = ConfigurationFile.find(
                named: path, isRoot: isRoot, environment: SocketPath.processEnvironment)
            // Without --config, a file that cannot be read must not keep a broken machine from being tested.
            return path == nil ? try? file?.load() : try file?.load()
        }
    }

    /// What a daemon of this network knows that bears on the root cause: the link that carried the target. Without it,
    /// another link might be blamed here than the daemon blames.
    private static func memory(of text: String, _ configuration: Configuration?) -> RootCauseMemory? {
        guard let target = try? Target(text.isEmpty ? "internet" : text),
            var client = try? ControlClient(path: SocketPath.forThisProcess, patience: .seconds(1)),
            (try? client.isInThisNamespace()) == true
        else { return nil }
        let states = [target, .internet].compactMap { try? client.status(of: $0) }
        guard let cause = states.lazy.compactMap({ $0.rootCause ?? $0.heldCause }).first, let name = cause.interface
        else {
            return nil
        }
        // A name is not asked for twice: it is not resolved where the Internet is not reached.
        let judged = if case .name = target.subject { Target.internet } else { target }
        let options = configuration?.engineOptions ?? ReachabilityEngine.Options()
        // One that is gone is remembered too, by the index that no link has.
        let index = InterfaceIndex(bitPattern: LinkName.index(of: name) ?? 0)
        let paths = PathMemory(of: cause, on: index) { paths in
            let snapshot = try? KernelSnapshot(options: options, memory: RootCauseMemory(paths: paths))
            return (try? snapshot?.state(of: judged))?.rootCause
        }
        return RootCauseMemory(paths: paths)
    }

    /// The pages with known answers, by the proxy that the daemon asks them by.
    static func destinations(
        of connectivity: Configuration.Connectivity
    ) -> [(destination: DiagnosisDestination, page: ConnectivityEndpoint)] {
        // Where that is one of the environment, it is the daemon's, and not this process's.
        let proxies = connectivity.proxies.resolved(in: EnvironmentProxies { _ in nil })
        return connectivity.endpoints.map { page in
            let proxy = (try? TransferURL(page.url)).flatMap { proxies.proxy(for: $0).url }
            let destination = DiagnosisDestination(
                title: page.url, host: .init(page.host), ports: [page.port], exchange: .http(page.url),
                isEndpoint: true,
                proxy: proxy.map { .init(url: $0.description, host: .init($0.host), port: $0.port) })
            return (destination, page)
        }
    }
}

extension DiagnosisDestination.Host {
    fileprivate init(_ host: String) { self = IPAddress(host).map { .address(HostAddress($0)) } ?? .name(host) }
}
