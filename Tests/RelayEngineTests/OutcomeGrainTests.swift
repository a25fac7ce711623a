// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct OutcomeGrainTests {
    @Test(
        arguments: [
            (-5, 1), (0, 1), (60, 1), (120, 1), (121, 2), (600, 5), (3600, 30), (86_400, 900), (7 * 86_400, 7200),
            (90 * 86_400, 86_400), (400 * 86_400, 345_600),
        ] as [(Int64, Int64)])
    func `A stretch is as short as the number of stretches allows`(span: Int64, seconds: Int64) {
        let grain = OutcomeGrain.of(.seconds(span))
        #expect(grain == .seconds(seconds))
        #expect(span <= grain.milliseconds / 1000 * OutcomeGrain.most)
    }
}
