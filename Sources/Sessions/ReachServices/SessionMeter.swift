#if Metrics
    public import CoreMetrics
    internal import ReachCore
    public import ReachSession
    internal import Synchronization

    extension RequestSessionOptions {
        /// Has the session record its requests with swift-metrics.
        ///
        /// Of each request on a connection, as OpenTelemetry's conventions for HTTP clients want it, with
        /// `http.request.method`, `server.address`, `server.port`, `network.protocol.version`, and
        /// `http.response.status_code` or `error.type`:
        /// - `http.client.request.duration`, a timer
        /// - `http.client.request.body.size` and `http.client.response.body.size`, in bytes
        ///
        /// Of each task, which may wait and be sent several times:
        /// - `reach.request.duration`, a timer, with `outcome`: `success` or the kind of its error
        /// - `reach.request.wait.duration`, a timer: from its first resumption until it is sent first
        /// - `reach.requests`, a meter: those that are resumed and not over
        ///
        /// - Parameter factory: By default the one that the program has set for all.
        public mutating func recordMetrics(by factory: any MetricsFactory = MetricsSystem.factory) {
            instruments.append(SessionMeter(factory))
        }
    }

    /// Records what it is told.
    private final class SessionMeter: SessionInstrument {
        private struct Life {
            let began = ContinuousClock.now
            var isSent = false
        }

        private let factory: any MetricsFactory
        private let requests: Meter
        /// Of the tasks that are not over, which live as long.
        private let lives = Mutex<[ObjectIdentifier: Life]>([:])

        init(_ factory: any MetricsFactory) {
            self.factory = factory
            requests = Meter(label: "reach.requests", factory: factory)
        }

        func resumed(_ task: RequestTask) {
            let count = lives.withLock { lives in
                lives[ObjectIdentifier(task)] = Life()
                return lives.count
            }
            requests.set(count)
        }

        func willSend(_ method: String, for task: RequestTask) -> [HeaderField] {
            let began = lives.withLock { lives -> ContinuousClock.Instant? in
                guard let life = lives[ObjectIdentifier(task)], !life.isSent else { return nil }
                lives[ObjectIdentifier(task)]?.isSent = true
                return life.began
            }
            if let began { record(ContinuousClock.now - began, "reach.request.wait.duration", []) }
            return []
        }

        func ended(_ exchange: TaskMetrics.Exchange?, _ failure: String?, of task: RequestTask) {
            guard let exchange else { return }
            let dimensions = exchange.dimensions(failure)
            record(exchange.total, "http.client.request.duration", dimensions)
            record(exchange.sentBodyBytes, "http.client.request.body.size", dimensions)
            record(exchange.receivedBodyBytes, "http.client.response.body.size", dimensions)
        }

        func interrupted(_ task: RequestTask) {}

        func completed(_ task: RequestTask, _ result: Result<RequestResponse, RequestError>) {
            let (life, count) = lives.withLock { ($0.removeValue(forKey: ObjectIdentifier(task)), $0.count) }
            guard let life else { return }
            requests.set(count)
            let outcome =
                switch result {
                case .success: "success"
                case .failure(let error): error.kind.rawValue
                }
            record(ContinuousClock.now - life.began, "reach.request.duration", [("outcome", outcome)])
        }

        private func record(_ duration: Duration, _ label: String, _ dimensions: [(String, String)]) {
            Timer(label: label, dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory)
                .recordNanoseconds(duration.nanoseconds)
        }

        private func record(_ bytes: Int64, _ label: String, _ dimensions: [(String, String)]) {
            Recorder(label: label, dimensions: dimensions, factory: factory).record(bytes)
        }
    }

    extension TaskMetrics.Exchange {
        fileprivate func dimensions(_ failure: String?) -> [(String, String)] {
            var dimensions = [
                ("http.request.method", Self.knownMethods.contains(method) ? method : "_OTHER"),
                ("server.address", url.host), ("server.port", "\(url.portOrUsual)"),
            ]
            if let protocolVersion { dimensions.append(("network.protocol.version", protocolVersion)) }
            if let status { dimensions.append(("http.response.status_code", "\(status)")) }
            if let word = failure ?? status.flatMap({ $0 >= 400 ? "\($0)" : nil }) {
                dimensions.append(("error.type", word))
            }
            return dimensions
        }

        /// A server of metrics keeps each value of a dimension.
        private static let knownMethods: Set<String> = [
            "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
        ]
    }
#endif
