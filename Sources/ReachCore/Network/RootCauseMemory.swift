/// What an observer knows beyond the kernel's present state, from which a root cause may follow. A single query has none of it.
package struct RootCauseMemory: Hashable, Sendable {
    /// The links that carried the target's paths before.
    package var paths = PathMemory()
    /// How often access points have refused links.
    package var admissions = AdmissionCounter()

    package init(paths: PathMemory = PathMemory(), admissions: AdmissionCounter = AdmissionCounter()) {
        self.paths = paths
        self.admissions = admissions
    }
}
