internal import CNetlink
internal import ReachCore
internal import ReachLoop

/// Follows what happens to the connections of Wi-Fi links, and holds the loss of a carrier back while a link moves to
/// another access point. Confined to the loop.
///
/// It subscribes when the network behind a Wi-Fi link is first asked for, so machines without Wi-Fi pay nothing.
final class WirelessObserver {
    private let loop: EventLoop
    private unowned let view: KernelView
    private let handler: ([NetworkTable.Effect]) -> Void
    private var socket: WirelessSocket?
    private var hold = RoamHold()
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in timeReached() }

    /// - Parameter handler: Called with changes of ``KernelView`` that follow from notices and from time.
    init(loop: EventLoop, view: KernelView, handler: @escaping ([NetworkTable.Effect]) -> Void) {
        self.loop = loop
        self.view = view
        self.handler = handler
        view.wireless?.onFirstUse = { [unowned self] in subscribe($0) }
    }

    deinit { if let socket { loop.unwatch(socket.descriptor) } }

    /// Without notices, a link's network is queried again whenever the link's carrier comes or goes.
    private func subscribe(_ family: WirelessFamily) {
        guard let socket = try? WirelessSocket(family) else { return }
        self.socket = socket
        try? loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in readNotices() }
    }

    /// - Returns: Whether the notice is held back.
    func holds(_ notice: Notice) -> Bool {
        switch notice {
        case .link(let link):
            guard let wireless = view.wireless, socket != nil else { return false }
            let network = wireless.knownNetwork(of: link.index)
            guard network != nil || hold.knows(link.index) else { return false }
            let isHeld = hold.holds(link, after: view.table.links[link.index], in: network, at: SystemClock.boot)
            schedule()
            return isHeld
        case .linkRemoved(let index):
            hold.forget(index)
            return false
        default: return false
        }
    }

    private func readNotices() {
        guard let socket, let wireless = view.wireless else { return }
        var effects: [NetworkTable.Effect] = []
        do throws(NetlinkError) {
            for notice in try socket.read() { effects += self.effects(of: notice) }
        } catch {
            for index in wireless.knownLinks { effects += refresh(index) }
        }
        schedule()
        if !effects.isEmpty { handler(effects) }
    }

    private func effects(of notice: WirelessNotice) -> [NetworkTable.Effect] {
        let index = notice.interface
        // No one has asked for the network of other links.
        guard let wireless = view.wireless, wireless.knownLinks.contains(index), let link = view.table.links[index]
        else {
            return []
        }
        switch notice.kind {
        case .disconnected(let mayReturn):
            guard let network = wireless.knownNetwork(of: index) else { return [] }
            let loss = hold.left(link, network, mayReturn: mayReturn, at: SystemClock.boot)
            return hold.knows(index) ? [] : apply(loss) + refresh(index)
        case .connected, .roamed:
            let effects = refresh(index)
            let loss = hold.joined(index, wireless.knownNetwork(of: index))
            guard let loss, link.isUsable, view.table.links[index] == link else { return apply(loss) + effects }
            // The carrier has returned already, in another network. What was on the link is gone all the same.
            let lost = apply(loss)
            if !lost.isEmpty { handler(lost) }
            return apply(link) + refresh(index)
        }
    }

    private func apply(_ loss: Link?) -> [NetworkTable.Effect] {
        loss.flatMap { view.apply(.link($0)) }.map { [$0] } ?? []
    }

    private func refresh(_ index: InterfaceIndex) -> [NetworkTable.Effect] {
        let before = view.wireless?.knownNetwork(of: index)
        guard view.refreshWireless(of: index) else { return [] }
        let current = view.wireless?.knownNetwork(of: index)
        let isRoam = before?.ssid != nil && before?.ssid == current?.ssid
        return [NetworkTable.Effect(cause: isRoam ? .roam : .network, interface: index)]
    }

    /// Everything was read again: what was held back is older.
    func reset() {
        hold = RoamHold()
        schedule()
    }

    private func schedule() { timer.set(to: hold.deadline) }

    private func timeReached() {
        var effects: [NetworkTable.Effect] = []
        for (index, loss) in hold.timeReached(at: SystemClock.boot) { effects += apply(loss) + refresh(index) }
        schedule()
        if !effects.isEmpty { handler(effects) }
    }
}

/// The socket that receives what happens to the connections of Wi-Fi links. Confined to one thread.
final class WirelessSocket {
    private var socket: NetlinkSocket
    private let buffer = DatagramBuffer()

    /// Subscribes to connections that are made, moved and ended. The group has a message for each frame of each
    /// handshake, and the kernel drops those before they wake this process.
    init(_ family: WirelessFamily) throws(NetlinkError) {
        socket = try NetlinkSocket.open(NETLINK_GENERIC, receiveBufferBytes: 1 << 18)
        try socket.setNonblocking()
        try socket.attach(filter: SocketFilter.wireless)
        try socket.join([family.group])
    }

    var descriptor: CInt { socket.descriptor }

    /// Reads the queued notices.
    ///
    /// - Throws: ``NetlinkError/lost`` when the queue overflowed.
    func read() throws(NetlinkError) -> [WirelessNotice] {
        var notices: [WirelessNotice] = []
        while true {
            let count = try socket.receive(into: buffer) { notices += WirelessParser.notices(in: $0) }
            if count < buffer.slotCount { return notices }
        }
    }
}
