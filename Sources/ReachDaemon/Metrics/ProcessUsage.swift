internal import Glibc

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
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return usage }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = max(0, read(file, &bytes, bytes.count))
        let words = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
        if words.count > 1, let pages = UInt64(words[1]) {
            usage.residentBytes = pages * UInt64(sysconf(CInt(_SC_PAGESIZE)))
        }
        return usage
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
