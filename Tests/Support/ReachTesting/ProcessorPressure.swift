internal import ReachCore
internal import ReachLoop

/// How much of a time some process of this machine was ready and had no processor (Linux,
/// Documentation/accounting/psi.rst). A test with limits of real time that fails meanwhile says nothing, and is
/// repeated.
package struct ProcessorPressure: Sendable {
    private let start = SystemClock.boot
    private let waitedBefore = Self.waited

    /// Measures from now on.
    package init() {}

    /// The share of the time since then; 0 where the kernel does not count it.
    package var share: Double {
        guard let before = waitedBefore, let now = Self.waited else { return 0 }
        let passed: Duration = SystemClock.boot - start
        return Double(now - min(before, now)) * 1000 / Double(max(1, passed.nanoseconds))
    }

    /// In microseconds, since the machine's start.
    private static var waited: UInt64? {
        SmallFile.words("/proc/pressure/cpu").prefix(5).lazy.compactMap { word in
            word.hasUTF8Prefix("total=") ? UInt64(word.dropFirst(6)) : nil
        }.first
    }
}
