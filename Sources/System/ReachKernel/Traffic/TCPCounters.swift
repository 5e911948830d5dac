internal import Glibc

/// Counters of TCP in this network namespace since it began (/proc/net/netstat).
package struct TCPCounters: Hashable, Sendable {
    /// Retransmission timeouts (TCPTimeouts): nothing acknowledged what was sent.
    package var timeouts: UInt64
    /// Segments with new data that were sent (TCPOrigDataSent, Linux 3.12).
    package var dataSegments: UInt64

    package init(timeouts: UInt64, dataSegments: UInt64) {
        self.timeouts = timeouts
        self.dataSegments = dataSegments
    }

    /// Reads the text of the file: a line of names, then one of numbers, each with the prefix `TcpExt:`.
    ///
    /// - Returns: `nil` if one of the counters is missing.
    package init?(netstat text: some Collection<UInt8>) {
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count > 1 else { return nil }
        let names = lines[0].split(separator: UInt8(ascii: " "))
        let numbers = lines[1].split(separator: UInt8(ascii: " "))
        guard names.count == numbers.count, names.first.map({ $0.elementsEqual("TcpExt:".utf8) }) == true else {
            return nil
        }
        func number(_ name: StaticString) -> UInt64? {
            let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            return names.firstIndex { $0.elementsEqual(wanted) }
                .flatMap { UInt64(String(decoding: numbers[$0], as: UTF8.self)) }
        }
        guard let timeouts = number("TCPTimeouts"), let dataSegments = number("TCPOrigDataSent") else { return nil }
        self.init(timeouts: timeouts, dataSegments: dataSegments)
    }
}

/// The file with the counters, kept open: reading it again takes 30 µs, without an event or a lock of the kernel.
package final class TCPCounterFile {
    private let file: CInt
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)

    /// Opens the file of this thread's network namespace.
    package init() { file = open("/proc/thread-self/net/netstat", O_RDONLY | O_CLOEXEC) }

    deinit {
        buffer.deallocate()
        if file >= 0 { close(file) }
    }

    /// Reads the counters; `nil` if that is not possible.
    package func read() -> TCPCounters? {
        guard file >= 0 else { return nil }
        let count = pread(file, buffer.baseAddress, buffer.count, 0)
        return count > 0 ? TCPCounters(netstat: UnsafeRawBufferPointer(rebasing: buffer[..<count])) : nil
    }
}
