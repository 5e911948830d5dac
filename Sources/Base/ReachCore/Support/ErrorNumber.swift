internal import Glibc

/// The C library's numbers of errors (`errno`).
package enum ErrorNumber {
    /// The C library's description of a number. Any thread may ask for one.
    package static func text(_ number: CInt) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
