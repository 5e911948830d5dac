internal import Glibc
internal import ReachCore
internal import ReachFleet

/// The clocks of time zones that this machine knows (tzdata).
enum ZoneClocks {
    /// Where glibc looks unless TZDIR names another folder.
    private static var folder: String { getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo" }

    /// Whether there is such a zone. tzset(3) takes any other name for UTC, and says nothing.
    static func isKnown(_ zone: String) -> Bool {
        guard zone.utf8.first?.isLetterOrDigit == true, zone.utf8.count <= 64, zone.utf8.allSatisfy(isOfName) else {
            return false
        }
        guard let file = fopen("\(folder)/\(zone)", "re") else { return false }
        defer { fclose(file) }
        var magic = [UInt8](repeating: 0, count: 4)
        return fread(&magic, 1, magic.count, file) == magic.count && magic == Array("TZif".utf8)
    }

    private static func isOfName(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "/_+-".utf8.contains(byte) }

    /// How far the zone's clocks are ahead of UTC from a day before the one time until a day after the other: each
    /// change of theirs, to the minute. It sets a variable for that, so there must be no other threads yet.
    static func offsets(of zone: String, from: Timestamp, to: Timestamp) -> [DailyTime.Offset] {
        let before = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", zone, 1)
        tzset()
        defer {
            if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
            tzset()
        }
        let first = (from.nanosecondsSince1970 / 60_000_000_000 - 1440) * 60
        let last = to.nanosecondsSince1970 / 1_000_000_000 + 86_400
        var list = [offset(at: first, ahead(at: first))]
        for second in stride(from: first, through: last, by: 60) {
            let ahead = ahead(at: second)
            if ahead != list[list.count - 1].seconds, list.count < DailyTime.offsetLimit {
                list.append(offset(at: second, ahead))
            }
        }
        return list
    }

    private static func offset(at second: Int64, _ ahead: Int64) -> DailyTime.Offset {
        DailyTime.Offset(from: Timestamp(nanosecondsSince1970: second * 1_000_000_000), seconds: ahead)
    }

    private static func ahead(at second: Int64) -> Int64 {
        var (time, parts) = (time_t(second), tm())
        localtime_r(&time, &parts)
        return Int64(parts.tm_gmtoff)
    }
}
