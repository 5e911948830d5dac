internal import Glibc

/// An open file descriptor, closed when the value goes away.
package struct FileDescriptor: ~Copyable, Sendable {
    package let rawValue: CInt

    package init(owning rawValue: CInt) { self.rawValue = rawValue }

    deinit { close(rawValue) }
}
