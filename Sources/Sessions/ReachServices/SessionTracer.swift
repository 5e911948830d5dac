#if Tracing
    internal import ReachCore
    public import ReachSession
    internal import Synchronization
    public import Tracing

    extension RequestSessionOptions {
        /// Has the session make a span of each task, with the spans of its waits and of the requests that are sent for
        /// it, as OpenTelemetry's conventions for HTTP clients want them.
        ///
        /// The task's span belongs to the span in which the task is resumed. Servers receive the span of the request
        /// that is sent to them, in the fields that the tracer writes, such as `traceparent`. URLs are recorded without
        /// user, query and fragment, which may have secrets. Of a request of an earlier run, tasks that
        /// ``RequestSession/tasks()`` found are traced, from their next attempt on.
        ///
        /// - Parameter tracer: Called on any thread; by default the one that the program has set for all.
        public mutating func trace(by tracer: any Tracer = InstrumentationSystem.tracer) {
            instruments.append(SessionTracer(tracer))
        }
    }

    /// Makes the spans.
    private final class SessionTracer: SessionInstrument {
        private struct Trace {
            let span: any Span
            /// Since when no attempt runs; `nil` while one does.
            var waitingSince: DefaultTracerClock.Timestamp?
            var attempt: (any Span)?
            var sent = 0
        }

        private let tracer: any Tracer
        /// Of the tasks that are not over, which live as long.
        private let traces = Mutex<[ObjectIdentifier: Trace]>([:])

        init(_ tracer: any Tracer) { self.tracer = tracer }

        func resumed(_ task: RequestTask) {
            let trace = begin(task)
            traces.withLock { $0[ObjectIdentifier(task)] = trace }
        }

        private func begin(_ task: RequestTask) -> Trace {
            let now = DefaultTracerClock.now
            let request = task.originalRequest
            let span = tracer.startSpan("request", ofKind: .internal, at: now)
            span.updateAttributes { attributes in
                attributes["http.request.method"] = request.method.rawValue
                attributes["url.full"] = request.url.shown
                attributes["reach.request.tag"] = task.tag
            }
            return Trace(span: span, waitingSince: now)
        }

        func willSend(_ method: String, for task: RequestTask) -> [HeaderField] {
            let now = DefaultTracerClock.now
            let attempt = traces.withLock { traces in
                var trace = traces[ObjectIdentifier(task)] ?? begin(task)
                endWait(&trace, at: now)
                trace.attempt?.end(at: now)
                let span = tracer.startSpan(method, context: trace.span.context, ofKind: .client, at: now)
                if trace.sent > 0 { span.attributes["http.request.resend_count"] = trace.sent }
                trace.sent += 1
                trace.attempt = span
                traces[ObjectIdentifier(task)] = trace
                return span
            }
            var fields: [HeaderField] = []
            tracer.inject(attempt.context, into: &fields, using: FieldInjector())
            return fields
        }

        private func endWait(_ trace: inout Trace, at now: DefaultTracerClock.Timestamp) {
            guard let since = trace.waitingSince else { return }
            trace.waitingSince = nil
            tracer.startSpan("wait", context: trace.span.context, ofKind: .internal, at: since).end(at: now)
        }

        func ended(_ exchange: TaskMetrics.Exchange?, _ failure: String?, of task: RequestTask) {
            endAttempt(of: task) { span in
                if let exchange { span.updateAttributes { $0.add(exchange) } }
                span.note(status: exchange?.status, failure: failure)
            }
        }

        func interrupted(_ task: RequestTask) { endAttempt(of: task) { $0.note(status: nil, failure: "interrupted") } }

        private func endAttempt(of task: RequestTask, _ note: (any Span) -> Void) {
            let now = DefaultTracerClock.now
            let span = traces.withLock { traces in
                defer {
                    traces[ObjectIdentifier(task)]?.attempt = nil
                    traces[ObjectIdentifier(task)]?.waitingSince = now
                }
                return traces[ObjectIdentifier(task)]?.attempt
            }
            guard let span else { return }
            note(span)
            span.end(at: now)
        }

        func completed(_ task: RequestTask, _ result: Result<RequestResponse, RequestError>) {
            guard var trace = traces.withLock({ $0.removeValue(forKey: ObjectIdentifier(task)) }) else { return }
            let now = DefaultTracerClock.now
            if trace.sent == 0 { endWait(&trace, at: now) }
            trace.attempt?.note(status: nil, failure: "cancelled")
            trace.attempt?.end(at: now)
            switch result {
            case .success(let response): trace.span.note(status: response.statusCode, failure: nil)
            case .failure(let error): trace.span.note(status: error.response?.statusCode, failure: error.word)
            }
            trace.span.end(at: now)
        }
    }

    /// Writes a span's context into a request.
    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into fields: inout [HeaderField]) {
            fields.append(HeaderField(key, value))
        }
    }

    extension Span {
        fileprivate func note(status: Int?, failure: String?) {
            if let status { attributes["http.response.status_code"] = status }
            guard let word = failure ?? status.flatMap({ $0 >= 400 ? "\($0)" : nil }) else { return }
            attributes["error.type"] = word
            setStatus(SpanStatus(code: .error, message: failure))
        }
    }

    extension SpanAttributes {
        fileprivate mutating func add(_ exchange: TaskMetrics.Exchange) {
            self["http.request.method"] = exchange.method
            self["url.full"] = exchange.url.shown
            self["server.address"] = exchange.url.host
            self["server.port"] = exchange.url.portOrUsual
            self["network.protocol.version"] = exchange.protocolVersion
            self["network.peer.address"] = exchange.remoteAddress.map { "\($0)" }
            self["network.local.address"] = exchange.localAddress.map { "\($0)" }
            self["network.interface.name"] = exchange.interface
            self["http.request.body.size"] = exchange.sentBodyBytes
            self["http.response.body.size"] = exchange.receivedBodyBytes
        }
    }
#endif
