package import ReachCore
internal import ReachLoop

/// The kernel's counters of links.
package enum LinkCounters {
    /// - Parameter directory: Where the kernel shows them: in /sys for the links of the namespace in which that was
    ///   mounted.
    /// - Returns: The bytes that a link has carried; `nil` if they are not shown.
    package static func traffic(of name: String, in directory: String = "/sys/class/net") -> LinkReport.Traffic? {
        guard !name.unicodeScalars.contains("/"), name != "..", let received = counter("rx_bytes", of: name, directory),
            let sent = counter("tx_bytes", of: name, directory)
        else { return nil }
        return LinkReport.Traffic(received: received, sent: sent)
    }

    private static func counter(_ counter: String, of link: String, _ directory: String) -> UInt64? {
        SmallFile.text("\(directory)/\(link)/statistics/\(counter)", limit: 64).flatMap { text in
            UInt64(text.prefix { $0.isNumber })
        }
    }
}
