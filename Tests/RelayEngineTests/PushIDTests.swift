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

    @Test("push ids are UUIDs of version 8")
    func pushIDs() {
        #expect(PushID.text(campaign: "0123456789ab", device: 1) == "01234567-89ab-8000-8000-000000000001")
        #expect(
            PushID.text(campaign: "0123456789ab", device: 0x0FED_CBA9_8765_4321)
                == "01234567-89ab-8000-8fed-cba987654321")
    }
}
