internal import Glibc
package import ReachCore

extension LocalZone {
    /// The time zone of this machine, or the one that the variable TZ names (tzset(3)).
    package static let system = LocalZone { time in
        var seconds = time_t(time.nanosecondsSince1970.flooredSeconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let name = parts.tm_zone.map { String(cString: $0) } ?? ""
        return Offset(seconds: Int(parts.tm_gmtoff), name: name)
    }
}

extension Int64 {
    fileprivate var flooredSeconds: Int64 { self / 1_000_000_000 - (self % 1_000_000_000 < 0 ? 1 : 0) }
}
