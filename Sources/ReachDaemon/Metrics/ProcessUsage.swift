internal import Glibc
internal import ReachLoop

/// The CPU time and memory of this process, from the kernel.
struct ProcessUsage {
    var cpuSeconds = 0.0
    var residentBytes: UInt64 = 0

    static var now: ProcessUsage {
        var usage = ProcessUsage()
        var times = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &times) == 0 {
            usage.cpuSeconds = seconds(times.ru_utime) + seconds(times.ru_stime)
        }
        let words = SmallFile.words("/proc/self/statm")
        if words.count > 1, let pages = UInt64(words[1]) {
            usage.residentBytes = pages * UInt64(sysconf(CInt(_SC_PAGESIZE)))
        }
        return usage
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
