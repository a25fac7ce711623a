// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite("How long a campaign's answers took, over time")
struct LatencyCourseTests {
    private static let begun = Timestamp(seconds: 1_800_000_007)

    private func histogram(_ milliseconds: [Int64]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for time in milliseconds { histogram.add(.milliseconds(time)) }
        return histogram
    }

    @Test(
        "Stretches are short while most is sent, and few in all",
        arguments: [
            // The campaign's age and, since it began at seven seconds, the stretch's beginning and length.
            (0, 0, 1), (119, 119, 1), (120, 113, 10), (1199, 1193, 10), (1200, 1193, 60), (7199, 7193, 60),
            (7200, 7193, 900), (86_399, 86_393, 900), (86_400, 79_193, 21_600), (-5, -5, 1),
        ] as [(Int64, Int64, Int64)])
    func stretches(age: Int64, from: Int64, length: Int64) {
        let stretch = LatencyStretch(
            at: Self.begun + .seconds(age), begunAt: Self.begun, latency: LatencyHistogram())
        #expect(stretch.from == Self.begun + .seconds(from), "\((stretch.from - Self.begun).milliseconds / 1000)")
        #expect(stretch.length == .seconds(length))
    }

    @Test func `A campaign of 90 days that is answered every second has few stretches`() {
        var stretches: Set<[Int64]> = []
        for second in 0..<(90 * 86_400) {
            let stretch = LatencyStretch(
                at: Self.begun + .seconds(second), begunAt: Self.begun, latency: LatencyHistogram())
            stretches.insert([stretch.from.milliseconds, stretch.length.milliseconds])
        }
        #expect((700...800).contains(stretches.count), "\(stretches.count)")
    }

    @Test func `A picture's stretches are as long as it has room for, and no answer is lost or counts twice`() {
        let parts = [(0, 1), (1, 1), (3, 1), (10, 10), (60, 60)].map { (from: Int64, length: Int64) in
            LatencyStretch(
                from: Timestamp(seconds: 600 + from), length: .seconds(length), latency: histogram([from + 1]))
        }
        func merged(_ grain: Int64) -> [[Int64]] {
            LatencyCourse.merged(parts.reversed(), over: .seconds(grain)).map {
                [$0.from.milliseconds / 1000 - 600, $0.length.milliseconds / 1000, Int64($0.latency.count)]
            }
        }
        #expect(merged(0) == [[0, 1, 1], [1, 1, 1], [3, 1, 1], [10, 10, 1], [60, 60, 1]])
        #expect(merged(2) == [[0, 2, 2], [2, 2, 1], [10, 10, 1], [60, 60, 1]])
        #expect(merged(10) == [[0, 10, 3], [10, 10, 1], [60, 60, 1]])
        #expect(merged(300) == [[0, 300, 5]])
    }

    @Test func `Quantiles lie within the bucket that has them`() throws {
        #expect(LatencyHistogram().quantile(0.5) == nil)
        // 90 of up to 32 ms, 9 of up to 128 ms, one that is longer than all buckets.
        let histogram = histogram(Array(repeating: 20, count: 90) + Array(repeating: 100, count: 9) + [60_000])
        func milliseconds(_ share: Double) throws -> Double {
            Double(try #require(histogram.quantile(share)).nanoseconds) / 1e6
        }
        #expect(try milliseconds(0.45) == 24, "half way between 16 and 32")
        #expect(try milliseconds(0.9) == 32)
        #expect(try milliseconds(0.99) == 128)
        #expect(try milliseconds(1) == 32_768, "more than that is not known")
        #expect(LatencyHistogram(counts: histogram.counts).quantile(0.9) == histogram.quantile(0.9))
        #expect(LatencyHistogram(counts: [1, -2]).count == 1)
        var sum = histogram
        sum.add(histogram)
        #expect(
            sum.count == 200 && sum.counts == histogram.counts.map { $0 * 2 } && sum.seconds == histogram.seconds * 2)
    }
}
