#if ServiceLifecycle
    public import Reachability
    public import ServiceLifecycle

    /// A monitor is a service of swift-service-lifecycle: it starts and stops with its group.
    extension ReachabilityMonitor: Service {
        /// Starts the monitor, waits until the group shuts down, and stops the monitor.
        public func run() async throws {
            start()
            await cancelWhenGracefulShutdown { for await _ in self.changes {} }
            stop()
        }
    }
#endif
