#if Metrics
    public import CoreMetrics
    internal import ReachCore
    public import Reachability

    extension ReachabilityMonitor {
        /// Records what this monitor reports with swift-metrics, as long as it exists.
        ///
        /// `reach.reachable` is a gauge, 1 or 0, and `reach.changes` a counter, both with `target`; the counter has the
        /// `cause`, too. While the state is unknown, the gauge keeps its value.
        ///
        /// - Parameter factory: By default the one that the program has set for all.
        public func recordMetrics(by factory: any MetricsFactory = MetricsSystem.factory) {
            let target = ("target", "\(target)")
            notificationCenter.addObserver(forName: .reachabilityStateDidChange, object: self) { notification in
                let change = notification.change
                Counter(
                    label: "reach.changes", dimensions: [target, ("cause", "\(change.cause)")], factory: factory
                ).increment()
                guard change.state.status != .unknown else { return }
                Gauge(label: "reach.reachable", dimensions: [target], factory: factory)
                    .record(change.state.isReachable ? 1 : 0)
            }
        }
    }
#endif
