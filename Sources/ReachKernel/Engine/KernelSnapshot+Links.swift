package import ReachCore

extension KernelSnapshot {
    /// All links of this namespace, by index, with what each carries.
    package func links() throws(NetlinkError) -> [LinkReport] {
        let internet = try look(at: .internet).verdict
        let stack = try view.wholeStack()
        return view.table.links.values.sorted { $0.index < $1.index }.map {
            LinkReport($0, in: view.table, stack: stack, internet: internet)
        }
    }
}
