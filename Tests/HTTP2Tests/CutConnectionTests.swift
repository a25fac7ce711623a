// SPDX-License-Identifier: Apache-2.0
import HTTP2
import OwnThread
import RelayEngine
import TestPeers
import Testing

/// Peers that cut their connections, refuse some streams, or both: that costs the requests on those connections, and no pause.
@Suite(.timeLimit(.minutes(60)), .ownThread)
struct CutConnectionTests {
    /// - Returns: the requests that were lost after a second try. Those that have waited too long come back unsent
    ///   (`PoolMachine.canWait`).
    private func deliver(
        _ pushes: Int, inTurnsOf count: Int? = nil, script: @escaping ScriptedPeer.Script
    ) throws -> (lost: Int, connections: Int) {
        let bench = try Workbench(script: script)
        defer { bench.finish() }
        let size = count ?? pushes
        var lost = 0
        for (turn, first) in stride(from: 0, to: pushes, by: size).enumerated() {
            bench.send(size, from: first)
            let batch = try bench.collector.batches(turn + 1)[turn]
            lost += batch.count(of: .lost)
            #expect(batch.count(of: 200) + batch.count(of: .lost) + batch.count(of: .unsent) == size)
        }
        #expect(bench.collector.state.now.conditions == [.connected], "nothing is in the way")
        return (lost, bench.peer.state.now.connections)
    }

    @Test(arguments: [20, 50, 200])
    func aPeerThatCutsCostsWhatWasOnTheConnection(after limit: Int) throws {
        let (lost, connections) = try deliver(30 * limit) { $0.number == limit ? [.cut] : [.answer(200)] }
        #expect(lost <= 6 * limit, "\(lost)")
        #expect(connections <= 60, "\(connections)")
    }

    @Test func oneInSevenRefusedWhereAnswersComeLater() throws {
        let late = Duration.milliseconds(100)
        let (lost, connections) = try deliver(1000) { request in
            request.number % 7 == 0 ? [.reset(code: 7)] : [.after(late, .answer(200))]
        }
        #expect(lost == 0)
        #expect(connections == 1, "it takes six of seven: \(connections)")
    }

    @Test func goAwayAfterSeventyWithRefusalsAndAPace() throws {
        let late = Duration.milliseconds(20)
        let (lost, connections) = try deliver(1500, inTurnsOf: 75) { request in
            if request.number % 50 == 0 { return [.reset(code: 7)] }
            let answer = Step.after(late, .answer(200))
            return request.number == 70 ? [answer, .goAway(lastStreamID: request.streamID)] : [answer]
        }
        #expect(lost == 0)
        #expect(connections <= 45, "\(connections)")
    }
}
