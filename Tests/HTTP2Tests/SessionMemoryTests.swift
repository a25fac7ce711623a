// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import Testing

@testable import HTTP2

/// The memory of its sessions that a lane keeps.
@Suite struct SessionMemoryTests {
    @Test func whatABurstLeavesGoesBackAndTheRestIsUsedAgain() throws {
        let memory = SessionMemory()
        let callbacks = unsafe memory.callbacks
        let owner = unsafe callbacks.mem_user_data
        func take(_ count: Int) throws -> [UnsafeMutableRawPointer] {
            try (0..<count).map { _ in
                try #require(unsafe callbacks.malloc(200, owner))
            }
        }
        let burst = try take(10_000)
        #expect(memory.trim() == 0, "all of it is in use")
        for block in burst { unsafe callbacks.free(block, owner) }
        // A block of 200 bytes is one of 256, and has a head of 16.
        #expect(memory.trim() == (10_000 - SessionMemory.most) * (256 + 16))
        #expect(memory.trim() == 0)
        let again = try take(SessionMemory.most)
        #expect(Set(again).isSubset(of: Set(burst)), "what was kept is what is given")
        #expect(memory.trim() == 0)
        for block in again { unsafe callbacks.free(block, owner) }
        #expect(memory.trim() == 0)
    }
}
