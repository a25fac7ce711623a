// SPDX-License-Identifier: Apache-2.0
import Dispatch
import OwnThread
import RelayAPI
import RelayEngine
import Testing

@testable import RelayDaemon

@Suite(.ownThread) struct ReloadRequestsTests {
    private let asked = DispatchSemaphore(value: 0)
    private let desk: ReloadRequests

    init() {
        let asked = asked
        desk = ReloadRequests(startedAt: Timestamp(milliseconds: 1000)) { asked.signal() }
    }

    /// Asks on another thread; the main thread's part is `answer`.
    private func ask(_ answer: () -> Void) throws -> ReloadReport {
        let desk = desk
        let end = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: Result<ReloadReport, any Error>?
        DispatchQueue(label: "asks").async {
            result = Result { try desk.ask() }
            end.signal()
        }
        asked.wait()
        answer()
        end.wait()
        return try #require(result).get()
    }

    private func serve(_ verdict: ReloadRequests.Verdict, at seconds: Int64) {
        desk.serve(clock: { Timestamp(milliseconds: seconds * 1000) }) { _ in verdict }
    }

    @Test func `Who asks is told, and a refusal is a fault until it is mended`() throws {
        #expect(try ask { serve(.taken(ReloadReport(apps: 2)), at: 2) } == ReloadReport(apps: 2))
        #expect(desk.fault == nil)
        #expect(desk.takenAt == Timestamp(milliseconds: 2000))

        let error = #expect(throws: ControlError.self) { try ask { serve(.refused("apps.x: is wrong"), at: 3) } }
        #expect(error?.code == .notReloaded)
        #expect(error?.context.hasSuffix("apps.x: is wrong") == true)
        #expect(desk.fault?.part == "configuration")
        #expect(desk.fault?.reason.contains("1970-01-01T00:00:03") == true)
        #expect(desk.takenAt == Timestamp(milliseconds: 2000))

        // By a signal: no caller waits.
        serve(.taken(ReloadReport(apps: 1)), at: 4)
        #expect(desk.fault == nil)
    }

    @Test func `Who asks a daemon that stops is told so`() throws {
        #expect(throws: ControlError.self) { try ask { desk.close() } }
        #expect(#expect(throws: ControlError.self) { try desk.ask() }?.code == .stopping)
    }
}
