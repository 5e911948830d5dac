package import ReachCore
internal import ReachLoop

/// Times by the clocks of this machine's zone.
package enum LocalTimeText {
    /// The local date and time of day.
    package static func full(_ time: Timestamp) -> String {
        let local = LocalZone.system.time(time)
        return "\(local.date) \(local.timeOfDay)"
    }

    /// The local time of day, or the date too if that is another day than today's.
    package static func short(_ time: Timestamp, now: Timestamp = SystemClock.now.wall) -> String {
        let (text, today) = (full(time), full(now).prefix(10))
        return text.hasUTF8Prefix(today) ? String(text.dropFirst(11).prefix(5)) : String(text.prefix(16))
    }
}
