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
}
