package import ReachCore

/// What the keeper of probes needs of the world, all of it on the loop's thread.
package struct ProbeEnvironment {
    package enum PathEvent {
        /// The state of a target, first and after every change.
        case state(ReachabilityState)
        /// The machine slept.
        case woke
    }

    /// Watches a target until what is returned is called.
    package let watch: (Target, @escaping (PathEvent) -> Void) -> () -> Void
    /// Makes an attempt, as ``ProbeRunner/start(_:binding:completion:)`` does.
    package let start:
        (ProbeSpecification, ProbeGate.Binding?, @escaping (ProbeObservation) -> Void) -> any ProbeAttempt
    /// What a probe's phase comes from beside its name: /etc/machine-id.
    package let machine: String

    package init(
        machine: String, watch: @escaping (Target, @escaping (PathEvent) -> Void) -> () -> Void,
        start:
            @escaping (ProbeSpecification, ProbeGate.Binding?, @escaping (ProbeObservation) -> Void) -> any ProbeAttempt
    ) {
        self.machine = machine
        self.watch = watch
        self.start = start
    }
}
