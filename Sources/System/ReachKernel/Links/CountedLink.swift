package import ReachCore
internal import ReachLoop

/// A link whose bytes are counted: it is metered, or may turn out to be.
package struct CountedLink: Hashable, Sendable {
    package let index: InterfaceIndex
    package let name: String
    package let linkClass: LinkClass
    package let isMetered: Bool
}

extension KernelView {
    /// The links that may carry what leaves this machine: those with an address, those of hardware and tunnels. A host
    /// of containers has thousands of others.
    ///
    /// - Parameter known: The links that were counted before. They stay as long as they exist, also without an address,
    ///   since counters only say what a link carried since it was made.
    package func countedLinks(besides known: Set<InterfaceIndex> = []) throws(NetlinkError) -> [CountedLink] {
        var counted: [CountedLink] = []
        for index in known.union(table.addressedLinks).union(table.index.outwardLinks).sorted() {
            guard let link = table.links[index], !link.flags.contains(.loopback) else { continue }
            // A guest's end of a bridge.
            if link.kind != nil, link.controller != nil, !known.contains(index) { continue }
            let traits = try condition(of: index).traits
            counted.append(
                CountedLink(
                    index: index, name: link.name, linkClass: traits.linkClass ?? .other, isMetered: traits.isMetered))
        }
        return counted
    }
}

extension ReachabilityEngine {
    /// The links whose bytes are counted; `nil` while the kernel cannot be observed.
    package func countedLinks(besides known: Set<InterfaceIndex>) -> [CountedLink]? {
        guard observationError == nil, let view = observer?.view else { return nil }
        do throws(NetlinkError) {
            return try view.countedLinks(besides: known)
        } catch {
            observer?.recover(from: error)
            return nil
        }
    }
}

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
