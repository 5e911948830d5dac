internal import Glibc
internal import ReachLoop

/// The reason why a query or a subscription failed, sorted by what the caller does about it.
package enum NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Notices or replies were lost: read everything again.
    case lost
    /// This process lacks the permission, or the kernel lacks the feature: poll, or give up.
    case forbidden(call: String, errno: Int32)
    /// The kernel refused one request; the socket still works.
    case refused(errno: Int32)
    /// Anything else: close the socket and try again later.
    case failed(call: String, errno: Int32)

    init(call: String, errno number: Int32) {
        switch number {
        case ENOBUFS: self = .lost
        case EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS: self = .forbidden(call: call, errno: number)
        default: self = .failed(call: call, errno: number)
        }
    }

    package var description: String {
        switch self {
        case .lost: "netlink messages were lost"
        case .forbidden(let call, let number), .failed(let call, let number):
            "\(call): \(SystemError.text(number))"
        case .refused(let number): "the kernel refused a request: \(SystemError.text(number))"
        }
    }
}
