import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Synchronization
import Testing

@testable import ReachProbe

/// When it is decided whether a link leads to a phone.
@Suite(.timeLimit(.minutes(1))) struct LeaseWatchTests {
    private struct Decision: Hashable, Sendable {
        let interface: InterfaceIndex
        let isFinal: Bool
    }

    /// A watch on a loop with its own thread.
    private final class Scene: Sendable {
        let decisions = EventLog<Decision>()
        private let mailbox: Mailbox
        private nonisolated(unsafe) var watch: LeaseWatch<Bool?>?

        /// - Parameter reading: What reading the leases does; called on the reading thread.
        init(_ reading: @escaping @Sendable () -> Void = {}) async throws {
            let mailboxes = EventLog<Mailbox>()
            BackgroundThread.start(named: "test-leases") {
                guard let loop = try? EventLoop() else { return }
                mailboxes.append(loop.mailbox)
                loop.run()
            }
            mailbox = try await mailboxes.wait(for: 1)[0]
            let scene = self
            mailbox.post { [decisions] loop in
                scene.watch = LeaseWatch(
                    loop: loop, root: "/nonexistent", again: .milliseconds(100), patience: .milliseconds(100)
                ) { _, _ in
                    reading()
                    return nil
                } onLease: { question, _, isFinal in
                    decisions.append(Decision(interface: question.interface, isFinal: isFinal))
                }
            }
        }

        func update(_ routes: [DefaultRoute]) { mailbox.post { _ in self.watch?.update(routes) } }

        func end() {
            mailbox.post { loop in
                self.watch = nil
                loop.stop()
            }
        }
    }

    private func route(_ interface: InterfaceIndex, source: UInt32) -> DefaultRoute {
        var route = DefaultRoute(
            key: DefaultRoute.Key(family: .ipv4, interface: interface), name: "lan\(interface)", traits: PathTraits())
        route.source = IPAddress(ipv4: source)
        return route
    }

    @Test func `what happens to another link does not postpone the decision about a link`() async throws {
        let scene = try await Scene()
        defer { scene.end() }
        // The other link changes more often than a link is read again, until this one is decided or a limit is reached.
        var count: UInt32 = 0
        while !scene.decisions.values.contains(Decision(interface: 1, isFinal: true)), count < 100 {
            count += 1
            scene.update([route(1, source: 0xc000_0201), route(2, source: 0xc633_6400 + count)])
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(count < 100)
        #expect(scene.decisions.values.first { $0.interface == 1 }?.isFinal == false, "it is read once more")
    }

    @Test func `a link is decided although reading its lease does not end`() async throws {
        let gate = Mutex(false)
        let scene = try await Scene { while !gate.withLock({ $0 }) { usleep(1000) } }
        defer {
            gate.withLock { $0 = true }
            scene.end()
        }
        scene.update([route(1, source: 0xc000_0201)])
        #expect(try await scene.decisions.wait(for: 1) == [Decision(interface: 1, isFinal: true)])
        scene.update([route(1, source: 0xc000_0202)])
        #expect(try await scene.decisions.wait(for: 2).last == Decision(interface: 1, isFinal: true), "the next too")
    }

    @Test func `a link that goes keeps nobody waiting, and the other one is still decided`() async throws {
        let gate = Mutex(false)
        let scene = try await Scene { while !gate.withLock({ $0 }) { usleep(1000) } }
        defer {
            gate.withLock { $0 = true }
            scene.end()
        }
        let (first, second) = (route(1, source: 0xc000_0201), route(2, source: 0xc633_6401))
        scene.update([first])
        try await Task.sleep(for: .milliseconds(60))
        scene.update([first, second])
        let decisions = try await scene.decisions.wait(for: 2)
        #expect(Set(decisions) == Set([1, 2].map { Decision(interface: $0, isFinal: true) }))
        scene.update([second])
        try await Task.sleep(for: .milliseconds(400))
        #expect(scene.decisions.values.count == 2, "nothing changed for the second link, and the first is gone")
    }

    @Test func `only an address of IPv4 with a lifetime has a lease`() throws {
        func hasLifetime(_ address: IPAddress, _ flags: InterfaceAddress.Flags) throws -> Bool {
            var route = route(1, source: 0xc000_0201)
            let own = InterfaceAddress(interface: 1, address: address, prefixLength: 24, flags: flags)
            route.addresses = [own]
            return try #require(LeaseQuestion.questions(for: [route]).first).hasLifetime
        }
        let (ipv4, ipv6) = (IPAddress(ipv4: 0xc000_0201), try #require(IPAddress("2001:db8::1")))
        #expect(try hasLifetime(ipv4, []))
        #expect(try !hasLifetime(ipv4, .permanent))
        #expect(try !hasLifetime(ipv6, []))
    }
}
