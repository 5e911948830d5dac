internal import CReachLinux
internal import Glibc
internal import ReachLoop

/// What a hook started and what that started in turn, in whatever process group or session it is.
///
/// It is found by asking the kernel for the children of each (CONFIG_PROC_CHILDREN). What cut itself loose, because the
/// process that started it has ended, is not found: it ends with the daemon's control group, where there is one.
final class HookFamily {
    /// Descriptors that stand for processes, whoever gets their numbers.
    private var members: [pid_t: CInt] = [:]
    private let root: pid_t

    /// A hook that starts more than this is beyond reason; its process group is ended in any case.
    private static let limit = 512

    /// - Parameter root: The hook's own process, which is no member.
    init(of root: pid_t) { self.root = root }

    deinit { members.values.forEach { close($0) } }

    /// Sends a signal to all that are there now, or were when this was last asked.
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
                // Its number may have become another's meanwhile.
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
        guard let tasks = opendir("/proc/\(process)/task") else { return [] }
        defer { closedir(tasks) }
        var children: [pid_t] = []
        while let entry = readdir(tasks) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let task = pid_t(name) { children += Self.children(of: process, by: task) }
        }
        return children
    }

    private static func children(of process: pid_t, by task: pid_t) -> [pid_t] {
        let file = FileDescriptor(
            owning: open("/proc/\(process)/task/\(task)/children", O_RDONLY | O_CLOEXEC))
        var text = [UInt8](repeating: 0, count: 8 * limit)
        let count = max(0, read(file.rawValue, &text, text.count))
        return text[..<count].split(separator: UInt8(ascii: " ")).compactMap {
            pid_t(String(decoding: $0, as: UTF8.self))
        }
    }
}
