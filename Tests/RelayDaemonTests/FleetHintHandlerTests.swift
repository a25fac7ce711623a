// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayStore
import Synchronization
import Testing

@testable import RelayDaemon

@Suite struct FleetHintHandlerTests {
    private static func news(_ payload: String) -> FleetHints {
        var news = FleetHints()
        news.add("s \(payload)", ofSchema: "s")
        return news
    }

    /// News that waits for the store does not hold up a lease, and news that comes in that time is not lost.
    @Test func whoTellsNeverWaitsForWhoActs() throws {
        let (begun, goOn, acted) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let heard = Mutex<[FleetHints]>([])
        let desk = FleetHintHandler()
        try desk.start { news in
            heard.withLock { $0.append(news) }
            begun.signal()
            goOn.wait()
            acted.signal()
        }
        desk.take(Self.news("version"))
        begun.wait()
        // The desk is at work, and waits.
        desk.take(Self.news("campaign"))
        desk.take(Self.news("!probe ios com.example.app"))
        #expect(heard.withLock { $0 } == [Self.news("version")])
        goOn.signal()
        begun.wait()
        goOn.signal()
        for _ in 0..<2 { acted.wait() }
        desk.stop()
        let last = try #require(heard.withLock { $0.last })
        #expect(heard.withLock { $0.count } == 2, "what came meanwhile is one piece of news")
        #expect(last.tables == ["campaign"] && last.wishes.count == 1)
    }

    @Test func oneThatWasNotStartedStops() { FleetHintHandler().stop() }
}
