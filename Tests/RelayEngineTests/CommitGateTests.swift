// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct CommitGateTests {
    private func at(_ milliseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test func waitsForOthersAndNotForLong() {
        var gate = CommitGate()
        #expect(gate.wait(at: at(0)) == nil)
        #expect(!gate.isOpen(devices: 500, isMoreOut: true, at: at(0)))
        #expect(gate.wait(at: at(5)) == .milliseconds(15))
        #expect(!gate.isOpen(devices: 1_000, isMoreOut: true, at: at(19)))
        #expect(gate.isOpen(devices: 1_000, isMoreOut: true, at: at(20)))
        #expect(gate.wait(at: at(20)) == nil, "those are recorded")
        #expect(!gate.isOpen(devices: 500, isMoreOut: true, at: at(21)), "the next wait anew")
    }

    @Test func enoughIsRecordedAtOnce() {
        var gate = CommitGate()
        #expect(!gate.isOpen(devices: 1_999, isMoreOut: true, at: at(0)))
        #expect(gate.isOpen(devices: 2_000, isMoreOut: true, at: at(0)))
    }

    @Test func theLastOnesWaitForNobody() {
        var gate = CommitGate()
        #expect(gate.isOpen(devices: 1, isMoreOut: false, at: at(0)))
        #expect(!gate.isOpen(devices: 1, isMoreOut: true, at: at(1)))
        #expect(gate.isOpen(devices: 1, isMoreOut: false, at: at(2)))
        #expect(gate.wait(at: at(2)) == nil)
    }

    @Test func nothingNeedsNoWait() {
        var gate = CommitGate()
        #expect(gate.isOpen(devices: 0, isMoreOut: true, at: at(0)))
        #expect(gate.wait(at: at(0)) == nil)
    }
}
