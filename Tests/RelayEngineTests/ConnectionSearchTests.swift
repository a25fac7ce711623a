// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// Services of several kinds, each a latency for a number of streams, and the connections that are found for them.
struct ConnectionSearchTests {
    private static let width = 1000

    private func at(_ seconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: UInt64(seconds) * 1_000_000_000)
    }

    /// Gives the search a service's readings a hundred times, and returns the connections that it then wants.
    private func find(
        _ search: inout ConnectionSearch, at now: MonotonicTime, latency: (_ streams: Int) -> Double
    ) -> Int {
        for _ in 0..<100 {
            let streams = search.wanted * Self.width
            search.consider(.init(streams: streams, latency: .seconds(latency(streams))), at: now)
        }
        return search.wanted
    }

    private func found(limit: Int = 64, _ latency: (_ streams: Int) -> Double) -> Int {
        var search = ConnectionSearch(limit: limit)
        search.considerFirst(.init(streams: 1, latency: .seconds(latency(1))))
        return find(&search, at: at(0), latency: latency)
    }

    /// A service, a network or a CPU that does `rate` requests a second and takes `least` for each.
    private func bound(_ rate: Double, _ least: Double) -> (Int) -> Double {
        { streams in max(least, Double(streams) / rate) }
    }

    @Test(arguments: [(100_000.0, 0.0003), (20_000, 0.001), (200_000, 0.0008), (10_000, 0.015)])
    func aServiceThatOneConnectionFillsGetsOne(rate: Double, least: Double) {
        #expect(found(bound(rate, least)) == 1)
    }

    @Test(arguments: [(100_000.0, 0.05, 10), (100_000, 0.2, 32), (100_000, 0.03, 6), (300_000, 0.05, 30)])
    func aLateServiceGetsWhatHidesItsLatency(rate: Double, least: Double, connections: Int) {
        #expect(found(bound(rate, least)) == connections)
        // Little's law: fewer would not have been enough, or the next step would not have brought its share.
        #expect(Double(connections * Self.width) >= 0.8 * rate * least)
        #expect(Double(connections * Self.width) <= 4 * rate * least)
    }

    @Test func theOperatorsLimitHolds() {
        #expect(found(limit: 16) { _ in 0.2 } == 16)
        #expect(found(limit: 6) { _ in 0.2 } == 6)
        #expect(found(limit: 1) { _ in 0.2 } == 1)
    }

    @Test(
        arguments: [
            (50, [1, 15, 20]), (52, [1, 16, 20]), (30, [1, 9, 18, 20]), (21, [1, 7, 14, 20]), (200, [1, 16, 20]),
        ] as [(Int, [Int])])
    func whomManyRequestsDoNotSlowDownGetsAsManyAsALaneCanFill(milliseconds: Int, expected: [Int]) {
        var search = ConnectionSearch(limit: 20)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(milliseconds)))
        var steps = [search.wanted]
        for _ in 1..<expected.count {
            search.consider(.init(streams: search.wanted * 1000, latency: .milliseconds(milliseconds)), at: at(0))
            steps.append(search.wanted)
        }
        #expect(steps == expected)
    }

    @Test func whoIsSlowerForThemGetsOneFourEightSixteen() {
        var search = ConnectionSearch(limit: 20)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        var steps = [search.wanted]
        for milliseconds in [100, 160, 210, 275] {
            search.consider(.init(streams: search.wanted * 1000, latency: .milliseconds(milliseconds)), at: at(0))
            steps.append(search.wanted)
        }
        #expect(steps == [1, 4, 8, 16, 20])
    }

    @Test func narrowConnectionsAreNotOpenedByTheHundred() {
        var search = ConnectionSearch(limit: 1000)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        search.consider(.init(streams: 100, latency: .milliseconds(50)), at: at(0))
        #expect(search.wanted == ConnectionSearch.longest)
        search.consider(.init(streams: 1600, latency: .milliseconds(50)), at: at(0))
        #expect(search.wanted == 32, "from many, twice as many")
    }

    @Test func whatAVainStepBroughtIsGivenBack() {
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        search.consider(.init(streams: 1000, latency: .milliseconds(50)), at: at(0))
        #expect(search.wanted == 15 && search.most == nil)
        // 30,000 a second are all that it does: 500 ms for fifteen thousand.
        let reading = ConnectionSearch.Reading(streams: 15_000, latency: .milliseconds(500))
        search.consider(reading, at: at(0))
        #expect(search.wanted == 15, "one reading may be chance")
        search.consider(reading, at: at(1))
        #expect(search.wanted == 3 && search.most == 3, "twice 30,000 x 50 ms")
        #expect(find(&search, at: at(60)) { Double($0) / 30_000 } == 3, "where a hundred ms are the rule")
    }

    @Test func aStepThatBroughtLittleIsGivenBackAfterFourReadings() {
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        search.consider(.init(streams: 1000, latency: .milliseconds(50)), at: at(0))
        // 80,000 a second.
        let reading = ConnectionSearch.Reading(streams: 15_000, latency: .microseconds(187_500))
        for _ in 0..<3 {
            search.consider(reading, at: at(0))
            #expect(search.wanted == 15)
        }
        search.consider(reading, at: at(0))
        #expect(search.wanted == 8 && search.most == 8)
    }

    @Test func whoWasBusyAndIsQuickAgainIsTriedAgainAtOnce() {
        var search = ConnectionSearch(limit: 16)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        search.consider(.init(streams: 1000, latency: .milliseconds(50)), at: at(0))
        for _ in 0..<4 { search.consider(.init(streams: 15_000, latency: .milliseconds(300)), at: at(1)) }
        #expect(search.wanted == 5 && search.most == 5)
        search.consider(.init(streams: 5000, latency: .milliseconds(80)), at: at(2))
        #expect(search.wanted == 5, "the rate is what it was")
        search.consider(.init(streams: 5000, latency: .milliseconds(55)), at: at(3))
        #expect(search.wanted == 10 && search.most == nil, "they carry twice what was reached")
    }

    @Test func afterAVainStepOneMoreIsTriedNowAndThen() {
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        search.consider(.init(streams: 1000, latency: .milliseconds(100)), at: at(0))
        #expect(search.wanted == 4)
        // Four times the streams, four times the latency: nothing was won.
        #expect(find(&search, at: at(0)) { Double($0) / 10_000 } == 2)
        #expect(find(&search, at: at(59)) { Double($0) / 10_000 } == 2, "a minute's rest")
        search.consider(.init(streams: 2000, latency: .milliseconds(200)), at: at(60))
        #expect(search.wanted == 3, "one, to see whether it is still so")
        #expect(find(&search, at: at(60)) { Double($0) / 10_000 } == 3, "then two minutes")
        #expect(find(&search, at: at(179)) { Double($0) / 10_000 } == 3)
        // The service has become better.
        #expect(find(&search, at: at(180)) { _ in 0.2 } == 64)
    }

    @Test func someBadReadingsAreForgiven() {
        // TCP begins slowly: the first burst takes several round trips.
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        for milliseconds in [450, 350, 270] {
            search.consider(.init(streams: 1000, latency: .milliseconds(milliseconds)), at: at(0))
            #expect(search.wanted == 1)
        }
        search.consider(.init(streams: 1000, latency: .milliseconds(55)), at: at(0))
        #expect(search.wanted == 16)
    }

    @Test func whoCarriesPlentyNeedsNoOtherWhateverTheReadingsSay() {
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(10)))
        // The rate rises with the streams by chance: our thread was not at work for a while.
        for milliseconds in [19, 12, 5, 19] {
            search.consider(.init(streams: 1000, latency: .milliseconds(milliseconds)), at: at(0))
        }
        #expect(search.wanted == 1)
        search.consider(.init(streams: 1000, latency: .milliseconds(21)), at: at(0))
        #expect(search.wanted == 4, "and now it is late")
    }

    @Test func aSlowFirstAnswerMakesNoServiceLate() {
        // The service had to look at the provider's token first.
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(30)))
        for _ in 0..<10 {
            let reading = ConnectionSearch.Reading(
                streams: 1000, latency: .milliseconds(20), least: .microseconds(400))
            search.consider(reading, at: at(0))
        }
        #expect(search.wanted == 1)
    }

    @Test func latenciesThatVaryAreHiddenToo() {
        var search = ConnectionSearch(limit: 16)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(90)))
        for _ in 0..<4 {
            let streams = search.wanted * 1000
            search.consider(.init(streams: streams, latency: .milliseconds(80), least: .milliseconds(20)), at: at(0))
        }
        #expect(search.wanted == 16)
    }

    @Test func whoNarrowsItsConnectionsDoesNotWantMore() {
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        search.consider(.init(streams: 1000, latency: .milliseconds(50)), at: at(0))
        search.consider(.init(streams: 400, latency: .milliseconds(50)), at: at(0))
        #expect(find(&search, at: at(59)) { _ in 0.05 } == 15)
    }

    @Test func whatIsNotToBeHadIsNotWanted() {
        var search = ConnectionSearch(limit: 64)
        search.considerFirst(.init(streams: 1, latency: .milliseconds(50)))
        search.consider(.init(streams: 1000, latency: .milliseconds(50)), at: at(0))
        search.refused(beyond: 2, at: at(0))
        #expect(search.wanted == 2)
        #expect(find(&search, at: at(59)) { _ in 0.05 } == 2)
        search.refused(beyond: 0, at: at(59))
        #expect(search.wanted == 1, "never none")
        #expect(find(&search, at: at(119)) { _ in 0.05 } == 64, "refusals do not add up")
    }

    // MARK: The meter

    private func milliseconds(_ count: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000) }

    @Test func theMeterCountsTheLastQuarterOfWhatWasSentSince() {
        var meter = AnswerMeter()
        meter.add(sentAt: milliseconds(1), latency: 50_000_000)
        #expect(
            meter.reading(at: milliseconds(51)) == .init(streams: 1, latency: .milliseconds(50)),
            "one stream, one answer")
        meter.restart(streams: 8, at: milliseconds(100))
        meter.add(sentAt: milliseconds(99), latency: 101_000_000)
        for wait in 1...7 as ClosedRange<UInt64> {
            meter.add(sentAt: milliseconds(100), latency: wait * 10_000_000)
            #expect(meter.reading(at: milliseconds(150)) == nil)
        }
        meter.add(sentAt: milliseconds(100), latency: 90_000_000)
        #expect(meter.reading(at: milliseconds(149)) == nil, "a reading of many takes its time")
        #expect(
            meter.reading(at: milliseconds(150))
                == .init(streams: 8, latency: .milliseconds(80), least: .milliseconds(10)))
        meter.restart(streams: 0, at: milliseconds(300))
        #expect(meter.streams == 1 && meter.reading(at: milliseconds(150)) == nil)
        meter.add(sentAt: milliseconds(301), latency: 0)
        #expect(meter.reading(at: milliseconds(150)) == .init(streams: 1, latency: .zero))
    }

    // MARK: Surplus

    @Test func whatNobodyNeededForTenMinutesMayGo() {
        var rule = SurplusRule()
        #expect(rule.surplus(usable: 8, streams: 8000, inFlight: 8000, at: at(0)) == 0)
        #expect(rule.surplus(usable: 8, streams: 8000, inFlight: 0, at: at(599)) == 0)
        #expect(rule.surplus(usable: 8, streams: 8000, inFlight: 0, at: at(600)) == 0, "they were needed meanwhile")
        #expect(rule.surplus(usable: 8, streams: 8000, inFlight: 900, at: at(900)) == 0)
        #expect(rule.surplus(usable: 8, streams: 8000, inFlight: 0, at: at(1200)) == 6, "900 fit twice into two")
        #expect(rule.surplus(usable: 2, streams: 2000, inFlight: 0, at: at(1799)) == 0)
        #expect(rule.surplus(usable: 2, streams: 2000, inFlight: 0, at: at(1800)) == 1)
        #expect(rule.surplus(usable: 1, streams: 1000, inFlight: 0, at: at(9999)) == 0, "the last one stays")
        #expect(rule.surplus(usable: 2, streams: 2000, inFlight: 0, at: at(10_000)) == 0, "its time begins now")
    }
}
