import ReachCore
import Testing

@testable import ReachKernel

/// When neighbours that did not answer are asked again.
@Suite struct InquiryScheduleTests {
    private let gateway = Neighbour.Key(interface: 2, address: IPAddress(ipv4: 0xc000_0201))
    private let other = Neighbour.Key(interface: 3, address: IPAddress(ipv4: 0xc000_0201))

    private func second(_ number: Int64) -> BootTime { BootTime(nanoseconds: number * 1_000_000_000) }

    @Test func `a neighbour is asked at once, and then ever more seldom`() {
        var schedule = InquirySchedule()
        #expect(schedule.deadline == nil)
        schedule.update([gateway], at: second(0))
        var times: [BootTime] = []
        while times.count < 7, let next = schedule.deadline {
            times.append(next)
            #expect(schedule.due(at: next) == [gateway])
            #expect(schedule.due(at: next).isEmpty)
            // An evaluation that finds nothing new changes nothing.
            schedule.update([gateway], at: next)
        }
        #expect(times == [0, 4, 12, 28, 58, 88, 118].map(second))
    }

    @Test func `a neighbour that answers is forgotten, and asked at once when it fails again`() {
        var schedule = InquirySchedule()
        schedule.update([gateway], at: second(0))
        for time in [0, 4, 12] as [Int64] { #expect(schedule.due(at: second(time)) == [gateway]) }
        schedule.update([other], at: second(13))
        #expect(schedule.deadline == second(13))
        #expect(schedule.due(at: second(13)) == [other])
        schedule.update([gateway, other], at: second(15))
        #expect(schedule.due(at: second(15)) == [gateway])
        schedule.update([], at: second(16))
        #expect(schedule.deadline == nil)
        schedule.update([], isWanted: false, at: second(16))
        #expect(schedule == InquirySchedule())
    }

    /// Any user may begin and end to wait, as often as wanted.
    @Test func `who waits again and again causes no more questions than who waits all the time`() {
        var schedule = InquirySchedule()
        var times: [Int64] = []
        for tick in 0...240 {
            let now = BootTime(nanoseconds: Int64(tick) * 500_000_000)
            schedule.update([gateway], isWanted: tick % 2 == 0, at: now)
            if schedule.due(at: now) == [gateway] { times.append(Int64(tick) / 2) }
        }
        #expect(times == [0, 4, 12, 28, 58, 88, 118])
    }

    @Test func `while no one waits nothing is asked, and after a while it begins as for the first time`() {
        var schedule = InquirySchedule()
        schedule.update([gateway], isWanted: false, at: second(0))
        #expect(schedule.isIdle && schedule.deadline == nil)
        schedule.update([gateway], at: second(0))
        for time in [0, 4, 12, 28] as [Int64] { #expect(schedule.due(at: second(time)) == [gateway]) }
        schedule.update([gateway], isWanted: false, at: second(30))
        #expect(!schedule.isIdle && schedule.deadline == nil && schedule.due(at: second(80)).isEmpty)
        schedule.update([gateway], at: second(80))
        #expect(schedule.due(at: second(80)) == [gateway] && schedule.deadline == second(110))
        schedule.update([gateway], isWanted: false, at: second(81))
        schedule.update([gateway], at: second(140))
        #expect(schedule.due(at: second(140)) == [gateway] && schedule.deadline == second(144))
        schedule.update([], isWanted: false, at: second(141))
        #expect(schedule.isIdle)
    }

    /// Users watch what they like, and each question costs the link three broadcasts.
    @Test func `of a thousand neighbours sixteen are asked a second, gateways first, and each in its turn`() {
        var schedule = InquirySchedule()
        let hosts = (0..<1000).map { Neighbour.Key(interface: 2, address: IPAddress(ipv4: 0x0a00_0000 + $0)) }
        schedule.update(Set(hosts), at: second(0))
        var asked: [Neighbour.Key: Int] = [:]
        for time in 0..<66 {
            if time == 30 { schedule.update(Set(hosts).union([gateway]), routers: [gateway], at: second(30)) }
            #expect(schedule.deadline == second(Int64(time)))
            let due = schedule.due(at: second(Int64(time)))
            #expect(due.count == 16 && schedule.due(at: second(Int64(time))).isEmpty)
            #expect([30, 34, 42, 58].contains(time) ? due.contains(gateway) : time > 58 || !due.contains(gateway))
            for key in due { asked[key, default: 0] += 1 }
        }
        #expect(hosts.allSatisfy { asked[$0] == 1 || asked[$0] == 2 })
    }
}
