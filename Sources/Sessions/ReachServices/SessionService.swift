#if ServiceLifecycle
    public import ReachSession
    public import ServiceLifecycle

    /// A session is a service of swift-service-lifecycle: it ends with its group.
    ///
    ///     let group = ServiceGroup(services: [session, server], gracefulShutdownSignals: [.sigterm], logger: logger)
    ///     try await group.run()
    ///
    /// A group ends its services in reverse order: list the session before those that use it.
    extension RequestSession: Service {
        /// Waits until the group shuts down or the session is closed, then closes it (``RequestSession/close()``): of a
        /// session with a directory the requests that are not over stay for the next run, also those under way.
        ///
        /// It does not wait for answers: the services that want them end before.
        ///
        /// - Throws: A `RequestError` of the kind `local` if not all requests could be written within five seconds.
        public func run() async throws {
            let isWritten = await withTaskCancellationOrGracefulShutdownHandler {
                await withCheckedContinuation { continuation in
                    whenClosed { continuation.resume(returning: $0) }
                }
            } onCancelOrGracefulShutdown: {
                self.close()
            }
            guard !isWritten else { return }
            throw RequestError(
                kind: .local, word: "not-written", description: "the session's requests could not be written in time")
        }
    }
#endif
