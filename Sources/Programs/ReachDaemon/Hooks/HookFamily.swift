internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The descendants of a hook's process, in any process group or session.
///
/// They are found by reading the children of each process (proc_tid_children(5), CONFIG_PROC_CHILDREN). An orphan whose
/// parent has ended is not found; it ends with the daemon's control group, if there is one.
final class HookFamily {
    /// The descendants' pidfds. Unlike a process ID, a pidfd never refers to another process later.
    private var members: [pid_t: CInt] = [:]
    private let root: pid_t

    /// The limit of descendants that are tracked. The process group is signalled in any case.
    private static let limit = 512

    /// - Parameter root: The hook's own process, which is not a member.
    init(of root: pid_t) { self.root = root }

    deinit { members.values.forEach { close($0) } }

    /// Sends a signal to all current descendants, and to those found by earlier calls.
    func signal(_ number: CInt) {
        adopt(childrenOf: root)
        for process in Array(members.keys) { adopt(childrenOf: process) }
        for descriptor in members.values { _ = reach_pidfd_send_signal(descriptor, number) }
    }

    private func adopt(childrenOf parent: pid_t) {
        var parents = [parent]
        while let parent = parents.popLast() {
            for child in Self.children(of: parent) where members[child] == nil && members.count < Self.limit {
                let descriptor = reach_pidfd_open(child)
                guard descriptor >= 0 else { continue }
                // The process ID may have been reused before pidfd_open: check the parent again.
                guard Self.children(of: parent).contains(child) else {
                    close(descriptor)
                    continue
                }
                members[child] = descriptor
                parents.append(child)
            }
        }
    }

    private static func children(of process: pid_t) -> [pid_t] {
        let tasks = (try? DirectoryNames.read("/proc/\(process)/task")) ?? []
        return tasks.compactMap { pid_t($0) }.flatMap { children(of: process, by: $0) }
    }

    private static func children(of process: pid_t, by task: pid_t) -> [pid_t] {
        SmallFile.text("/proc/\(process)/task/\(task)/children", limit: 8 * limit)?
            .split(scalar: " ").compactMap { pid_t($0) } ?? []
    }
}
