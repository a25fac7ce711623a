// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct CommitGateTests {
    /// A gate that is asked at `milliseconds`, as often as the test likes.
    private final class Gate {
        private var gate = CommitGate()

        private func at(_ milliseconds: UInt64) -> MonotonicTime {
            MonotonicTime(nanoseconds: milliseconds * 1_000_000)
        }

        func isOpen(_ devices: Int, isMoreOut: Bool = true, at milliseconds: UInt64) -> Bool {
            gate.isOpen(devices: devices, isMoreOut: isMoreOut, at: at(milliseconds))
        }

        func wait(at milliseconds: UInt64) -> Duration? { gate.wait(at: at(milliseconds)) }
    }

    @Test func waitsForOthersAndNotForLong() {
        let gate = Gate()
        #expect(gate.wait(at: 0) == nil)
        #expect(!gate.isOpen(500, at: 0))
        #expect(gate.wait(at: 5) == .milliseconds(15))
        #expect(!gate.isOpen(1_000, at: 19))
        #expect(gate.isOpen(1_000, at: 20))
        #expect(gate.wait(at: 20) == nil, "those are recorded")
        #expect(!gate.isOpen(500, at: 21), "the next wait anew")
    }

    @Test func enoughIsRecordedAtOnce() {
        let gate = Gate()
        #expect(!gate.isOpen(1_999, at: 0))
        #expect(gate.isOpen(2_000, at: 0))
    }

    @Test func theLastOnesWaitForNobody() {
        let gate = Gate()
        #expect(gate.isOpen(1, isMoreOut: false, at: 0))
        #expect(!gate.isOpen(1, at: 1))
        #expect(gate.isOpen(1, isMoreOut: false, at: 2))
        #expect(gate.wait(at: 2) == nil)
    }

    @Test func nothingNeedsNoWait() {
        let gate = Gate()
        #expect(gate.isOpen(0, at: 0))
        #expect(gate.wait(at: 0) == nil)
    }
}
