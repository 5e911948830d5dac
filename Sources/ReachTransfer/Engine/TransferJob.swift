internal import ReachCore
internal import ReachLoop

/// One transfer from its start to its end: it finds addresses, tries them one by one, follows redirects, keeps to the
/// timeouts, and tells its handler. Confined to the loop.
final class TransferJob {
    enum Stage: Equatable {
        case waiting
        case resolving(NameService.ID)
        case transferring
        case flushing
        case over
    }

    let id: TransferID
    let handler: TransferHandler
    /// It owns this job, and stops it before it goes.
    unowned(unsafe) var engine: TransferEngine?
    let tools: TransferTools
    /// As of the hop that is under way.
    var request: TransferRequest
    var hops: [TransferHop] = []
    var attempt: Attempt? {
        didSet { if oldValue !== attempt { oldValue?.job = nil } }
    }
    var body: [UInt8] = []
    var writer: FileWriter?
    var upload: (any UploadSource)?
    var head: ResponseHead?
    var stage = Stage.waiting
    var addresses: ArraySlice<IPAddress> = []
    var timers: TransferTimers
    /// The first timeout; the engine has one timer for all jobs.
    var deadline: BootTime?
    var redirects = 0
    /// Of hops that are over.
    var sentBefore: UInt64 = 0
    var receivedBefore: UInt64 = 0
    var told = TransferProgress()
    var toldAt: BootTime?
    /// What the first address failed with, if it tells more than what later ones failed with.
    var earlierFailure: TransferFailure?
    let origin: TransferURL
    private let mistake: TransferFailure?
    let startedAt: BootTime

    init(id: TransferID, request: TransferRequest, handler: TransferHandler, engine: TransferEngine) {
        tools = engine.tools
        self.id = id
        self.handler = handler
        self.engine = engine
        origin = request.url
        mistake = request.mistake
        startedAt = SystemClock.boot
        timers = TransferTimers(request.timeouts, startedAt: startedAt)
        self.request = request
    }

    // MARK: - Beginning

    func begin() {
        guard stage == .waiting else { return }
        beginHop()
        if let mistake { return finish(.failure(mistake)) }
        if case .none = request.body { return findAddresses() }
        openUpload { [weak self] failure in
            guard let self, stage == .waiting else { return }
            if let failure { return finish(.failure(failure)) }
            findAddresses()
        }
    }

    func beginHop() {
        let now = SystemClock.boot
        hops.append(TransferHop(url: request.url, method: request.method, phases: TransferPhases(started: now)))
        timers.beginConnecting(at: now)
        armTimer()
    }

    func openUpload(_ completion: @escaping (TransferFailure?) -> Void) {
        switch request.body {
        case .none: completion(nil)
        case .bytes(let bytes):
            upload = BytesUpload(bytes)
            completion(nil)
        case .file(let path):
            let file = FileUpload(path: path, thread: tools.files, replies: tools.replies)
            upload = file
            file.whenReady = { [weak self] in self?.resume() }
            file.open(completion)
        }
    }

    func findAddresses() {
        let proxied: TransferURL? = if case .explicit(let proxy) = request.proxy { proxy } else { nil }
        let server = proxied ?? request.url
        if let given = request.addresses, proxied == nil { return use(given) }
        if let literal = server.address { return use([literal]) }
        let limit = timers.timeToConnect(at: SystemClock.boot) ?? .seconds(30)
        let question = NameQuestion(server.host, family: request.family, interface: request.interface)
        let resolution = tools.resolver.resolve(question, within: limit) { [weak self] answer in
            guard let self else { return }
            stage = .waiting
            switch answer {
            case .success(let addresses): use(addresses)
            case .failure(let failure): finish(.failure(TransferFailure(failure)))
            }
        }
        stage = .resolving(resolution)
    }

    func use(_ found: [IPAddress]) {
        addresses = found.filter { request.family == nil || $0.family == request.family }[...]
        updateHop { $0.phases.resolved = SystemClock.boot }
        guard !addresses.isEmpty else {
            return finish(
                .failure(TransferFailure(.nameNotFound, "\(request.url.host) has no address of the family asked for")))
        }
        guard request.url.isSecure else { return tryNextAddress(trust: nil) }
        do throws(TransferFailure) {
            if let anchors = request.security.ownAnchors {
                return tryNextAddress(trust: try TrustStore.only(anchors))
            }
        } catch {
            return finish(.failure(error))
        }
        tools.systemTrust.take { [weak self] trust in
            guard let self, stage != .over else { return }
            tryNextAddress(trust: trust)
        }
    }

    func updateHop(_ change: (inout TransferHop) -> Void) { change(&hops[hops.count - 1]) }
}
