// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import RelayDaemon

/// A relay may take over the lease of a namesake only once that one has certainly ended.
@Suite struct ProcessNameTests {
    @Test func `This process runs, under its own name`() throws {
        guard case .began(let start) = ProcessName.look(at: getpid()) else {
            Issue.record("/proc does not show this process")
            return
        }
        #expect(ProcessName.own.hasSuffix("/\(getpid())/\(start)"))
        #expect(!ProcessName.isEnded(ProcessName.own))
    }

    @Test func `A number that no process has, or another process has, has ended`() throws {
        let parts = ProcessName.own.split(separator: "/").map(String.init)
        // Above the largest number of a process (proc_sys_kernel(5), pid_max).
        #expect(ProcessName.look(at: 1 << 22 + 1) == .ended)
        #expect(ProcessName.isEnded("\(parts[0])/\(parts[1])/\(1 << 22 + 1)/1"))
        #expect(ProcessName.isEnded("\(parts[0])/\(parts[1])/\(getpid())/1"))
        #expect(!ProcessName.isEnded("another boot/\(parts[1])/1/1"))
    }

    @Test func `A process that /proc hides may still run`() {
        #expect(!ProcessName.isEnded(.hidden, beganAt: "7"))
        #expect(ProcessName.isEnded(.ended, beganAt: "7") && ProcessName.isEnded(.began("8"), beganAt: "7"))
        #expect(!ProcessName.isEnded(.began("7"), beganAt: "7"))
    }
}
