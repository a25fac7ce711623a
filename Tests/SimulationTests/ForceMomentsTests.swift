// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Simulation

@Suite struct ForceMomentsTests {
    private static func look(_ moments: inout ForceMoments, at now: Int64, since: Int64?) -> String? {
        moments.look(at: now, isClockRight: true, [(7, since)])?.why
    }

    @Test func `A moment within the two looks is right, and stays`() {
        var moments = ForceMoments()
        #expect(moments.look(at: 1000, isClockRight: true, []) == nil)
        #expect(Self.look(&moments, at: 2000, since: 1500) == nil)
        moments.looked(at: 3000)
        #expect(Self.look(&moments, at: 4000, since: 1500) == nil)
        // It was taken back, and came again.
        #expect(Self.look(&moments, at: 5000, since: 4500) == nil)
    }

    /// FAULTS 2.10: "in force since" was the canary's moment.
    @Test func `A canary's moment is wrong, and so is another one later, or none`() {
        var moments = ForceMoments()
        #expect(moments.look(at: 1000, isClockRight: true, []) == nil)
        #expect(Self.look(&moments, at: 2000, since: 900) != nil)
        #expect(Self.look(&moments, at: 3000, since: 1500) != nil)
        #expect(Self.look(&moments, at: 4000, since: 4001) != nil)
        #expect(Self.look(&moments, at: 5000, since: nil) != nil)
        #expect(moments.look(at: 6000, isClockRight: false, [(7, 100)]) == nil)
    }
}
