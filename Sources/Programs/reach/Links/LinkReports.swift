internal import ReachControl
internal import ReachCore
internal import ReachKernel

/// The links of this machine, from the daemon if it answers, otherwise from the kernel.
enum LinkReports {
    /// - Parameter source: Where to ask; the kernel afterwards if it answered.
    static func read(
        from source: inout DaemonOptions.Source, kernelOptions: ReachabilityEngine.Options
    ) throws(CommandError) -> (reports: [LinkReport], isDaemon: Bool) {
        let answer = try source.ask { client throws(ControlError) in try client.links() }
        if let answer { return (answer, true) }
        let configuration = try KernelConfiguration(kernelOptions)
        do throws(NetlinkError) {
            let snapshot = try KernelSnapshot(
                options: configuration.options, wantsWireless: configuration.namesWireless)
            return (try snapshot.links(), false)
        } catch {
            throw .cannotAsk(error)
        }
    }
}
