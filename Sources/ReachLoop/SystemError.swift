internal import Glibc

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
    package static func text(_ number: CInt) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Makes a call that returns -1 on failure, again if a signal interrupted it.
    package static func check(_ call: String, _ body: () -> CInt) throws(SystemError) -> CInt {
        while true {
            let result = body()
            if result != -1 { return result }
            if errno != EINTR { throw SystemError(call: call) }
        }
    }
}
