// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite("A relay's lease")
struct NodeMachineTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func joined(at now: MonotonicTime) -> NodeMachine {
        var machine = NodeMachine(at: now)
        #expect(machine.next(at: now) == .join)
        machine.good(sent: now, answered: now + .milliseconds(2))
        return machine
    }

    @Test("It is silent 1.5 s before anybody may take what it has")
    func order() {
        #expect(NodeMachine.trust + .milliseconds(1500) == NodeMachine.lease)
        #expect(NodeMachine.beat * 3 == NodeMachine.trust, "two heartbeats may be lost")
    }

    @Test("It joins first, then says every 1.5 s that it is there, and looks around each second")
    func rhythm() {
        var machine = joined(at: start)
        #expect(machine.next(at: start) == .look(fences: false))
        machine.looked(at: start)
        #expect(machine.next(at: start) == .wait(until: start + .seconds(1)))
        #expect(machine.next(at: start + .seconds(1)) == .look(fences: false))
        machine.looked(at: start + .seconds(1))
        #expect(machine.next(at: start + .milliseconds(1500)) == .beat)
    }

    @Test("It trusts its lease from when the last good heartbeat was sent, not from when it was answered")
    func trust() {
        var machine = joined(at: start)
        #expect(machine.trustedUntil == start + .milliseconds(4500))
        machine.good(sent: start + .seconds(2), answered: start + .seconds(3))
        #expect(machine.trustedUntil == start + .milliseconds(6500))
        machine.failed(.beat, at: start + .seconds(4))
        #expect(machine.trustedUntil == start + .milliseconds(6500), "a failure takes nothing away by itself")
        #expect(machine.next(at: start + .milliseconds(4249)) != .beat)
        #expect(machine.next(at: start + .milliseconds(4250)) == .beat, "it is tried again soon")
    }

    @Test("Fenced, it has nothing, and joins at once")
    func fenced() {
        var machine = joined(at: start)
        machine.fenced(at: start + .seconds(9))
        #expect(machine.trustedUntil == nil)
        #expect(machine.next(at: start + .seconds(9)) == .join)
        machine.failed(.join, at: start + .seconds(9))
        #expect(machine.next(at: start + .seconds(9)) == .wait(until: start + .milliseconds(9250)))
    }

    @Test("It gives nobody up before its own heartbeats have been good for as long as a lease")
    func fences() {
        var machine = joined(at: start)
        var now = start
        var firstFence: MonotonicTime?
        while now < start + .seconds(12) {
            switch machine.next(at: now) {
            case .beat: machine.good(sent: now, answered: now + .milliseconds(2))
            case .look(let fences):
                if fences, firstFence == nil { firstFence = now }
                machine.looked(at: now)
            case .wait(let until): now = until
            case .join: Issue.record("it has its place")
            }
        }
        #expect(firstFence.map { $0 - start >= NodeMachine.lease && $0 - start < .seconds(8) } == true)
    }

    @Test("A database that was away or is slow makes it give up nobody", arguments: [true, false])
    func slow(_ isAway: Bool) {
        var machine = joined(at: start)
        for second in 1...10 {
            machine.good(sent: start + .seconds(second), answered: start + .seconds(second) + .milliseconds(2))
        }
        machine.looked(at: start + .seconds(9))
        #expect(machine.next(at: start + .seconds(10)) == .look(fences: true))
        if isAway {
            machine.failed(.beat, at: start + .seconds(10))
        } else {
            machine.good(sent: start + .seconds(10), answered: start + .milliseconds(11_001))
            machine.good(sent: start + .seconds(11), answered: start + .milliseconds(12_001))
        }
        let next = machine.next(at: start + .milliseconds(10_100))
        #expect(next == .look(fences: false) || next == .beat)
        machine.looked(at: start + .milliseconds(10_100))
    }

    @Test("A gap that could not be trusted begins the time anew")
    func gap() {
        var machine = joined(at: start)
        for second in 1...8 {
            machine.good(sent: start + .seconds(second), answered: start + .seconds(second) + .milliseconds(2))
        }
        // It was suspended: nothing failed, and nothing was sent.
        machine.good(sent: start + .seconds(13), answered: start + .seconds(13) + .milliseconds(2))
        machine.looked(at: start + .seconds(12))
        #expect(machine.next(at: start + .seconds(13) + .milliseconds(10)) == .look(fences: false))
    }
}
