// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct PushIDTests {
    @Test(
        arguments: [
            (1, "3f9c2ab8-1d04-8000-8000-000000000001"),
            (0xabcdef, "3f9c2ab8-1d04-8000-8000-000000abcdef"),
            (1 << 59, "3f9c2ab8-1d04-8000-8800-000000000000"),
            ((1 << 60) - 1, "3f9c2ab8-1d04-8000-8fff-ffffffffffff"),
        ] as [(Int64, String)])
    func isALowerCaseUUIDOfVersion8(device: Int64, text: String) {
        #expect(PushID.text(campaign: "3f9c2ab81d04", device: device) == text)
        #expect(text.utf8.count == PushID.length)
    }

    @Test("A campaign's id is of twelve hex digits, whatever is drawn")
    func newCampaign() {
        #expect(PushID.newCampaign(RandomSource { 0 }) == "000000000000")
        #expect(PushID.newCampaign(RandomSource { 0x0123_4567_89AB_FFFF }) == "0123456789ab")
        #expect(PushID.newCampaign(RandomSource { .max }) == "ffffffffffff")
        #expect(PushID.newCampaign(.system).utf8.count == 12)
    }

    @Test("Jitter's numbers are from 0 up to, not including, 1")
    func unit() {
        #expect(RandomSource { 0 }.unit() == 0)
        #expect(RandomSource { 1 << 63 }.unit() == 0.5)
        #expect(RandomSource { .max }.unit() == 1.0.nextDown)
    }

    @Test("push ids are UUIDs of version 8")
    func pushIDs() {
        #expect(PushID.text(campaign: "0123456789ab", device: 1) == "01234567-89ab-8000-8000-000000000001")
        #expect(
            PushID.text(campaign: "0123456789ab", device: 0x0FED_CBA9_8765_4321)
                == "01234567-89ab-8000-8fed-cba987654321")
    }
}
