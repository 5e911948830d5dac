internal import Glibc

/// The machine's identity, which spreads the probes of different machines over time.
enum MachineIdentity {
    /// machine-id(5), or the host name without one, as in many containers.
    static let current: String = {
        let file = open("/etc/machine-id", O_RDONLY | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = file >= 0 ? max(0, read(file, &bytes, bytes.count)) : 0
        let identity = bytes.prefix(count).prefix { $0 > 0x20 }
        if !identity.isEmpty { return String(decoding: identity, as: UTF8.self) }
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
}
