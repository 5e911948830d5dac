internal import CReachLinux

/// Receives several datagrams with one system call, since notices and replies arrive in small groups.
final class DatagramBuffer {
    /// The size of the slot that each datagram has. The kernel's dumps come in datagrams of at most 32 KiB, and a notice
    /// is far smaller. Only pages that are written to take up memory.
    let slotBytes: Int
    static let slotCount = Int(REACH_DATAGRAMS_AT_ONCE)

    private let memory: UnsafeMutableRawBufferPointer
    private let datagrams: UnsafeMutableBufferPointer<reach_datagram>

    init(slotBytes: Int = 64 * 1024) {
        self.slotBytes = slotBytes
        memory = .allocate(byteCount: slotBytes * Self.slotCount, alignment: 8)
        datagrams = .allocate(capacity: Self.slotCount)
        datagrams.initialize(repeating: reach_datagram())
    }

    deinit {
        memory.deallocate()
        datagrams.deallocate()
    }

    /// - Returns: The number of datagrams received, or the negative error number.
    func fill(from socket: CInt) -> Int {
        Int(reach_receive_netlink(socket, memory.baseAddress, slotBytes, datagrams.baseAddress, UInt32(Self.slotCount)))
    }

    /// The datagram in a slot; `nil` if it did not fit.
    func datagram(_ slot: Int) -> UnsafeRawBufferPointer? {
        let length = Int(datagrams[slot].length)
        guard length <= slotBytes else { return nil }
        let start = slot * slotBytes
        return UnsafeRawBufferPointer(rebasing: memory[start..<start + length])
    }

    /// Whether another process sent the datagram: only the kernel's port is 0.
    func isForged(_ slot: Int) -> Bool { datagrams[slot].port != 0 }
}
