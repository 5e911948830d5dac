package import ReachCore

/// The system as ``ProbeController`` uses it, so that tests can replace it. Everything is called on the loop's thread.
package struct ProbeEnvironment {
    /// Watches a target until the returned closure is called. The current state is the first event.
    package let watch: (Target, @escaping (TargetEvent) -> Void) -> () -> Void
    /// Starts an attempt, as ``ProbeRunner/start(_:binding:completion:)`` does.
    package let start:
        (ProbeSpecification, ProbeGate.Binding?, @escaping (ProbeObservation) -> Void) -> any ProbeAttempt
    /// The machine's identity (/etc/machine-id), which with a probe's name gives the phase of its ``ProbeGrid``.
    package let machine: String

    package init(
        machine: String, watch: @escaping (Target, @escaping (TargetEvent) -> Void) -> () -> Void,
        start:
            @escaping (ProbeSpecification, ProbeGate.Binding?, @escaping (ProbeObservation) -> Void) -> any ProbeAttempt
    ) {
        self.machine = machine
        self.watch = watch
        self.start = start
    }
}
