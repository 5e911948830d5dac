/// Error numbers of Linux, as in asm-generic/errno.h. ReachCore imports no C.
package enum LinuxError {
    package static let notPermitted: Int32 = 1
    package static let accessDenied: Int32 = 13
    package static let noDevice: Int32 = 19
    package static let invalidArgument: Int32 = 22
    package static let networkDown: Int32 = 100
    package static let networkUnreachable: Int32 = 101
    package static let hostUnreachable: Int32 = 113

    /// The symbolic name, as in errno(3).
    static func name(of number: Int32) -> String {
        switch number {
        case accessDenied: "EACCES"
        case noDevice: "ENODEV"
        case invalidArgument: "EINVAL"
        case networkDown: "ENETDOWN"
        case networkUnreachable: "ENETUNREACH"
        case hostUnreachable: "EHOSTUNREACH"
        default: "error \(number)"
        }
    }
}
