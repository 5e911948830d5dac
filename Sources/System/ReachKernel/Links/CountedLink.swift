package import ReachCore

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
