internal import CReachLinux

/// Receives several datagrams with one system call, since notices and replies arrive in small groups.
final class DatagramBuffer {
    /// The size of the slot that each datagram has. The kernel's dumps come in datagrams of at most 32 KiB, and a
    /// notice is far smaller. Only pages that are written to take up memory.
    let slotBytes: Int
    /// The datagrams that one system call receives at most.
    let slotCount: Int

    private let memory: UnsafeMutableRawBufferPointer
    private let datagrams: UnsafeMutableBufferPointer<reach_datagram>

    /// - Parameter slotCount: At most 32 (`REACH_DATAGRAMS_AT_MOST`).
    init(slotBytes: Int = 64 * 1024, slotCount: Int = 4) {
        self.slotBytes = slotBytes
        self.slotCount = min(slotCount, Int(REACH_DATAGRAMS_AT_MOST))
        memory = .allocate(byteCount: slotBytes * self.slotCount, alignment: 8)
        datagrams = .allocate(capacity: self.slotCount)
        datagrams.initialize(repeating: reach_datagram())
    }

    deinit {
        memory.deallocate()
        datagrams.deallocate()
    }

    /// - Returns: The number of datagrams received, or the negative error number.
    func fill(from socket: CInt) -> Int {
        Int(reach_receive_netlink(socket, memory.baseAddress, slotBytes, datagrams.baseAddress, UInt32(slotCount)))
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
