// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Synchronization
import Testing

/// SIGKILL while devices are imported: an answered import is stored whole, and sending all again ends in the same registry.
@Suite(.serialized, .ownThread) struct CrashedImportTests {
    /// One import on a thread of its own.
    private final class Import: Sendable {
        private let request: HTTPRequest
        private let socket: String
        private let ended = DispatchSemaphore(value: 0)
        private let answer = Mutex<Int?>(nil)

        init(_ body: [UInt8], socket: String) {
            var request = HTTPRequest("POST", "http://localhost/v1/apps/\(Workbench.app)/ios/devices")
            request.body = body
            request.timeout = .seconds(120)
            self.request = request
            self.socket = socket
        }

        func start() {
            Thread { [self] in send() }.start()
        }

        private func send() {
            if let response = try? HTTPClient(unixSocket: socket).send(request), response.status == 200 {
                let json = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
                answer.withLock { $0 = json?["stored"] as? Int }
            }
            ended.signal()
        }

        /// How many devices the answer calls stored; nil where none came.
        func wait() -> Int? {
            ended.wait()
            return answer.withLock { $0 }
        }
    }

    private func removeStore(_ bench: Workbench) throws {
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: bench.path("relay.db\(suffix)"))
        }
        // Beside this file, a new store would look like one that went back in time.
        try? FileManager.default.removeItem(atPath: bench.path("relay.db.seen"))
    }

    @Test func anImportIsWholeOrCanBeRepeated() throws {
        var plan = CrashPlan()
        let fleet = Fleet(count: plan.devices * 5 / 4, withoutTelephone: 20, current: 33)
        let body = Array(fleet.devices.map(\.json).joined(separator: "\n").utf8)
        let bench = try Workbench()
        // Measures one import, so that the kills fall into its duration.
        try bench.start()
        let begin = ContinuousClock.now
        let first = Import(body, socket: bench.path("control.sock"))
        first.start()
        #expect(first.wait() == fleet.devices.count, "\(plan)")
        let duration = ContinuousClock.now - begin
        bench.kill()
        try removeStore(bench)

        var (whole, partly, none) = (0, 0, 0)
        for number in 1...plan.kills {
            try bench.start()
            let work = Import(body, socket: bench.path("control.sock"))
            work.start()
            plan.pass(upTo: duration)
            bench.kill()
            let told = work.wait()
            let image = try StoreImage(of: bench.path("relay.db"))
            defer { image.remove() }
            let comment = "\(plan), kill \(number)"
            let stored = try image.number("SELECT count(*) FROM device")
            if let told { #expect(told == fleet.devices.count && stored == told, "\(comment)") }
            try image.expectSound(comment)
            try image.expectCountsToAddUp(comment)
            if stored == fleet.devices.count {
                whole += 1
                // The next import must begin with an empty store, or there is nothing to interrupt.
                try removeStore(bench)
            } else if stored == 0 {
                none += 1
            } else {
                partly += 1
            }
        }
        try bench.start()
        let last = Import(body, socket: bench.path("control.sock"))
        last.start()
        #expect(last.wait() == fleet.devices.count, "\(plan)")
        let registry = try bench.sql("SELECT token, coalesce(telephone, ''), version FROM device ORDER BY token").output
        let wanted = fleet.devices.map { "\($0.token)|\($0.telephone ?? "")|\($0.version)\n" }.sorted().joined()
        #expect(registry == wanted, "\(plan): the registry is the list that was sent")
        print(
            "import of \(fleet.devices.count) (\(duration / .milliseconds(1)) ms), \(plan): the registry stood whole after "
                + "\(whole) kills, partly after \(partly), empty after \(none); repeated, it is the list")
    }
}
