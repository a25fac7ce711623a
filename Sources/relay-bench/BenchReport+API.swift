// SPDX-License-Identifier: Apache-2.0

extension BenchReport {
    /// What one question costs while nothing is sent, and while a campaign runs.
    ///
    /// Daemon, simulator and load generator share the machine, so each one's part of it is told: 1 is one processor all the
    /// time.
    struct API: Codable {
        /// Requests over all connections, each of which has one on its way.
        struct Load: Codable {
            var requestsPerSecond: Double
            /// From a request's first byte to its answer's last.
            var p50Microseconds: Int
            var p99Microseconds: Int
            /// All threads of the daemon but the fan-out's and its lanes', per request.
            var cpuMicroseconds: Double
            var apiProcessors: Double
            /// Conductor and lanes.
            var fanOutProcessors: Double
            var simulatorProcessors: Double
            var loadProcessors: Double
        }

        /// `check`: `GET /v1/check` with the push token of another device at each request. `status`:
        /// `GET /v1/campaigns/{id}` with an API token.
        var path: APIBench.Path
        /// `apart`: conductor, lanes and simulator on one processor, the rest of the daemon and the load generator on
        /// another. `shared`: as the kernel likes.
        var placement: APIBench.Placement
        var connections: Int
        /// While the campaign is paused.
        var idle: Load
        var underFanOut: Load
        /// Requests per second under the fan-out by those when idle; 1 is no loss.
        var ratio: Double
        /// While nobody asks.
        var pushesPerSecondAlone: Double
        var pushesPerSecond: Double
    }

    static func table(_ rows: [API]) -> String {
        lines(
            "The API while a campaign runs",
            [
                "path", "placement", "idle req/s", "p50 µs", "p99 µs", "CPU µs", "req/s", "p50 µs", "p99 µs", "CPU µs",
                "ratio", "pushes/s alone", "pushes/s", "CPUs: API", "fan-out", "simulator", "load",
            ],
            rows.map { row in
                let (idle, load) = (row.idle, row.underFanOut)
                return [
                    row.path.rawValue, row.placement.rawValue, whole(idle.requestsPerSecond), "\(idle.p50Microseconds)",
                    "\(idle.p99Microseconds)", text(idle.cpuMicroseconds), whole(load.requestsPerSecond),
                    "\(load.p50Microseconds)", "\(load.p99Microseconds)", text(load.cpuMicroseconds), text(row.ratio),
                    whole(row.pushesPerSecondAlone), whole(row.pushesPerSecond), text(load.apiProcessors),
                    text(load.fanOutProcessors), text(load.simulatorProcessors), text(load.loadProcessors),
                ]
            })
    }
}
