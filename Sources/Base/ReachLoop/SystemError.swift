internal import Glibc
internal import ReachCore

/// A failed system call.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let call: String
    /// The value of `errno`.
    package let number: CInt

    package init(call: String, number: CInt = errno) {
        self.call = call
        self.number = number
    }

    package var description: String { "\(call): \(Self.text(number))" }

    /// The C library's description of an error number.
    package static func text(_ number: CInt) -> String { ErrorNumber.text(number) }

    /// Makes a call that returns -1 on failure, again if a signal interrupted it.
    package static func check(_ call: String, _ body: () -> CInt) throws(SystemError) -> CInt {
        while true {
            let result = body()
            if result != -1 { return result }
            if errno != EINTR { throw SystemError(call: call) }
        }
    }
}
