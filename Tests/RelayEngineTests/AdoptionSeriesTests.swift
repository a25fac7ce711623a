// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite("Which points of a campaign's adoption are kept")
struct AdoptionSeriesTests {
    /// Not on an hour or a minute.
    private let begun = Timestamp(milliseconds: 1_700_000_123_456)
    private var series: AdoptionSeries { AdoptionSeries(begunAt: begun) }

    /// One minute as the store's keeper runs it; `points` becomes those that are kept after it.
    private func look(_ points: inout [AdoptionPoint], upgraded: Int64, at now: Timestamp) {
        let step = series.step(upgraded: upgraded, after: points.last, at: now)
        guard step != .nothing else { return }
        points.append(AdoptionPoint(at: now, upgraded: upgraded))
        guard step == .noteAndThin else { return }
        let surplus = Set(series.surplus(of: points))
        points.removeAll { surplus.contains($0) }
    }

    @Test("Nothing is kept before somebody upgrades, nor where the number stays as it was")
    func onlyChanges() {
        var points: [AdoptionPoint] = []
        for minute in 0..<600 {
            look(&points, upgraded: minute < 100 ? 0 : 7, at: begun + .seconds(60 * minute))
        }
        #expect(points == [AdoptionPoint(at: begun + .seconds(6000), upgraded: 7)])
    }

    @Test("A point a minute on the first day and an hour afterwards, however often somebody looks")
    func grains() {
        var points: [AdoptionPoint] = []
        for second in stride(from: 0, to: 30 * 3600, by: 7) {
            look(&points, upgraded: Int64(second + 1), at: begun + .seconds(second))
        }
        let first = points.filter { $0.at < begun + AdoptionSeries.firstTime }
        #expect((1440...1441).contains(first.count))
        #expect((6...7).contains(points.count - first.count))
        for (one, next) in zip(points, points.dropFirst()) {
            #expect(one.at < next.at && one.upgraded < next.upgraded)
        }
    }

    @Test("A campaign that never rests has no more points than the limit, and at a week its first day is of hours")
    func bounded() {
        var points: [AdoptionPoint] = []
        var most = 0
        for minute in 0..<(100 * 24 * 60) {
            look(&points, upgraded: Int64(minute + 1), at: begun + .seconds(60 * minute + 1))
            most = max(most, points.count)
        }
        #expect(most <= AdoptionSeries.limit)
        #expect(points.count > AdoptionSeries.limit - 3)
        #expect(points.last.map { $0.at <= begun + AdoptionSeries.span } == true)
        let first = points.filter { $0.at < series.firstEnd }
        #expect((24...25).contains(first.count))
        // Only the last minute of an hour is left: the number at its end.
        #expect(first.dropLast().allSatisfy { $0.at.milliseconds % 3_600_000 >= 3_540_000 })
    }

    @Test("Points of the first day that are alone in their hour stay, and what came after it is left alone")
    func surplus() {
        let hour = (begun + .seconds(7200)).milliseconds / 3_600_000 * 3_600_000
        func point(_ minutes: Int64) -> AdoptionPoint {
            AdoptionPoint(at: Timestamp(milliseconds: hour + minutes * 60_000), upgraded: minutes + 1)
        }
        let points = [0, 5, 59, 60, 125, 3000, 3001].map { point($0) }
        #expect(series.surplus(of: points) == [point(0), point(5)])
        #expect(series.surplus(of: []) == [])
    }

    @Test("A clock that was set back keeps nothing until it has caught up")
    func clockSetBack() {
        let last = AdoptionPoint(at: begun + .seconds(600), upgraded: 5)
        for seconds in [0, 599, 600] {
            #expect(series.step(upgraded: 9, after: last, at: begun + .seconds(seconds)) == .nothing)
        }
        #expect(series.step(upgraded: 9, after: last, at: begun + .seconds(660)) == .note)
        #expect(series.step(upgraded: 9, after: nil, at: begun - .seconds(60)) == .note)
    }

    @Test("After ninety days nothing is kept any more")
    func end() {
        let end = begun + AdoptionSeries.span
        #expect(series.step(upgraded: 1, after: nil, at: end) == .noteAndThin)
        #expect(series.step(upgraded: 1, after: nil, at: end + .milliseconds(1)) == .nothing)
    }
}
