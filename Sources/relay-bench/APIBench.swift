// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation

/// What apps and operators ask, first while the campaign is paused, then while it runs.
struct APIBench {
    enum Path: String, Codable, CaseIterable {
        case check
        case status
    }

    enum Placement: String, Codable, CaseIterable {
        case apart
        case shared
    }

    let options: BenchOptions
    private let stage: Stage
    private let token: String
    private let port: UInt16

    init(options: BenchOptions) throws {
        self.options = options
        let stage = try Stage(relay: options.relay)
        self.stage = stage
        do {
            try stage.start()
            _ = try stage.importDevices(0..<options.apiDevices, as: .ndjson)
            token = try stage.createToken(scope: "status")
            port = try stage.apiPort()
        } catch {
            stage.tearDown()
            throw error
        }
    }

    func run() throws -> [BenchReport.API] {
        defer { stage.tearDown() }
        var version = 1
        var rows: [BenchReport.API] = []
        for placement in Placement.allCases {
            guard try place(placement) else { continue }
            // One campaign for each figure, so that each begins with the whole audience.
            func campaign() throws -> String {
                version += 1
                let id = try stage.raise(to: "\(version).0.0")
                try stage.wait("the campaign begins", pause: 2000) { try stage.campaign(id).accepted > 0 }
                return id
            }
            let paused = try campaign()
            guard try stage.api("POST", "/v1/campaigns/\(paused)/pause").status == 200 else {
                throw BenchError("the campaign was over before it could be paused: more --api-devices are needed")
            }
            try stage.wait("nothing is on its way") { try stage.campaign(paused).counts["inFlight"] == 0 }
            let idle = try Path.allCases.map { try ask($0, about: paused, placement) }
            let alone = try rest(try campaign())
            for (path, idle) in zip(Path.allCases, idle) {
                let busy = try ask(path, about: try campaign(), placement)
                guard busy.pushesPerSecond > 0 else { throw BenchError("nothing was sent while the API was asked") }
                rows.append(
                    .init(
                        path: path, placement: placement, connections: options.apiConnections, idle: idle.load,
                        underFanOut: busy.load, ratio: busy.load.requestsPerSecond / idle.load.requestsPerSecond,
                        pushesPerSecondAlone: alone, pushesPerSecond: busy.pushesPerSecond))
            }
        }
        return rows
    }

    // MARK: Places

    /// - Returns: false where there are too few processors.
    private func place(_ placement: Placement) throws -> Bool {
        guard let daemon = stage.daemon else { throw BenchError("no daemon runs") }
        let usable = Processors.usable
        guard placement == .shared || usable.count > 1 else { return false }
        let (api, fanOut) = placement == .apart ? ([usable[0]], [usable[1]]) : (usable, usable)
        for thread in ThreadOfProcess.all(of: daemon.identifier) {
            Processors.place(thread: thread.id, on: thread.isOfFanOut ? fanOut : api)
        }
        for thread in ThreadOfProcess.all(of: stage.sink.identifier) { Processors.place(thread: thread.id, on: fanOut) }
        return true
    }

    // MARK: Windows

    private struct Moment {
        let time = ContinuousClock.now
        var accepted: Int
        var fanOut: UInt64
        var api: UInt64
        var sink: UInt64
    }

    private func moment(_ campaign: String) throws -> Moment {
        let state = try stage.campaign(campaign)
        guard state.state != "completed" else {
            throw BenchError("the campaign was over too soon: give more --api-devices, or fewer --api-seconds")
        }
        guard let daemon = stage.daemon else { throw BenchError("no daemon runs") }
        let threads = ThreadOfProcess.all(of: daemon.identifier)
        let fanOut = threads.lazy.filter(\.isOfFanOut).reduce(0) { $0 + $1.processorTime }
        return Moment(
            accepted: state.accepted, fanOut: fanOut,
            api: max(try ProcessFigures(of: daemon.identifier).processorTime, fanOut) - fanOut,
            sink: try ProcessFigures(of: stage.sink.identifier).processorTime)
    }

    private func rest(_ campaign: String) throws -> Double {
        let before = try moment(campaign)
        usleep(UInt32(options.apiSeconds) * 1_000_000)
        let after = try moment(campaign)
        return Double(after.accepted - before.accepted) / ((after.time - before.time) / .seconds(1))
    }

    private func ask(
        _ path: Path, about campaign: String, _ placement: Placement
    ) throws -> (load: BenchReport.API.Load, pushesPerSecond: Double) {
        var order = LoadLoop.Order(
            port: port, connections: options.apiConnections, milliseconds: options.apiSeconds * 1000,
            target: "/v1/campaigns/\(campaign)")
        switch path {
        case .check:
            order.target = "/v1/check?app=\(Sender.topic)&platform=\(Stage.platform)&version=1.0.0&token="
            order.devices = options.apiDevices
        case .status: order.bearer = token
        }
        if placement == .apart { order.processor = Processors.usable[0] }
        let before = try moment(campaign)
        let words = ["load", String(decoding: try JSONEncoder().encode(order), as: UTF8.self)]
        let result = try JSONDecoder().decode(LoadLoop.Result.self, from: Child(options.program, words).result())
        let after = try moment(campaign)
        let seconds = (after.time - before.time) / .seconds(1)
        func processors(_ time: KeyPath<Moment, UInt64>) -> Double {
            Double(after[keyPath: time] - before[keyPath: time]) / 1e9 / seconds
        }
        let load = BenchReport.API.Load(
            requestsPerSecond: Double(result.requests) / (Double(result.elapsed) / 1e9), p50Microseconds: result.p50,
            p99Microseconds: result.p99,
            cpuMicroseconds: Double(after.api - before.api) / 1000 / Double(max(result.requests, 1)),
            apiProcessors: processors(\.api), fanOutProcessors: processors(\.fanOut),
            simulatorProcessors: processors(\.sink), loadProcessors: Double(result.cpu) / 1e9 / seconds)
        return (load, Double(after.accepted - before.accepted) / seconds)
    }
}
