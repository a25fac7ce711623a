// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// The shards that an audience is to be cut into.
struct AudiencePlan: Sendable {
    /// The devices of one wave and one environment among the ids behind `after` and up to `last`.
    struct PlannedShard: Sendable {
        var after: Int64
        var last: Int64
        var devices: Int64
        var wave = 0
        var environment = PushEnvironment.production
    }

    /// In the order of their numbers: wave by wave, production first, by ascending ids.
    private(set) var shards: [PlannedShard] = []
    /// Whose plain outcomes are packed: batches of a campaign must not overlap, but shards of the two environments do, and so
    /// do those of waves. Of the two the one with more devices; nil with waves.
    private(set) var packed: PushEnvironment?

    /// Cuts an audience as a whole. Walks over the app's devices in steps of `size`, inside SQLite and on indexes alone: some
    /// 30 ns a device.
    init(of app: Int64, size: Int, _ connection: SQLiteConnection) throws {
        let sandbox = try Self.walk(DeviceTable.sandbox, of: app, size: size, connection).map { shard in
            var shard = shard
            shard.environment = .sandbox
            return shard
        }
        var production: [PlannedShard] = []
        for var shard in try Self.walk(DeviceTable.live, of: app, size: size, connection) {
            if !sandbox.isEmpty { shard.devices -= try Self.sandboxDevices(in: shard, of: app, connection) }
            guard shard.devices > 0 else { continue }
            if let before = production.last, before.devices + shard.devices <= size {
                shard.after = before.after
                shard.devices += before.devices
                production.removeLast()
            }
            production.append(shard)
        }
        shards = production + sandbox
        packed = Self.devices(production) >= Self.devices(sandbox) ? .production : .sandbox
    }

    /// Cuts an audience into waves: one walk over the app's devices, for each of which the wave is drawn, some 150 ns a device.
    ///
    /// - Parameter size: devices in a shard of the whole audience; a wave's shards have its share of that, but at least 20.
    init(of app: Int64, size: Int, in waves: WavePlan, draw: WaveDraw, _ connection: SQLiteConnection) throws {
        let sizes = (0..<waves.count).map { Int64(max(Int(Double(size) * waves.share(of: $0)), min(size, 20))) }
        // Two places for each wave.
        var open = (0..<2 * waves.count).map {
            PlannedShard(
                after: 0, last: 0, devices: 0, wave: $0 / 2, environment: $0 % 2 == 0 ? .production : .sandbox)
        }
        var ends: [Int64] = [0, 0]
        let statement = try connection.prepared(
            """
            SELECT id, telephone, \(DeviceTable.plannedEnvironment) FROM device NOT INDEXED
            WHERE app_id = ? AND removed_at IS NULL ORDER BY id
            """)
        defer { statement.reset() }
        statement.bind(1, app)
        while try statement.step() {
            let (device, wave) = (statement.integer(0), statement.wave(of: 1, by: draw))
            let environment = Int(statement.integer(2))
            let place = 2 * wave + environment
            ends[environment] = device
            open[place].last = device
            open[place].devices += 1
            guard open[place].devices == sizes[wave] else { continue }
            shards.append(open[place])
            open[place].after = device
            open[place].devices = 0
        }
        // Whoever was of no wave at its turn, because the device has changed hands, comes with the last one: it goes over all devices.
        for place in [2 * waves.count - 2, 2 * waves.count - 1] where ends[place % 2] > open[place].after {
            open[place].last = ends[place % 2]
        }
        shards += open.filter { $0.last > $0.after && ($0.devices > 0 || $0.wave == waves.count - 1) }
        shards.sort {
            ($0.wave, $0.environment.rawValue, $0.after) < ($1.wave, $1.environment.rawValue, $1.after)
        }
    }

    /// A device of the audience that has its outcome already.
    mutating func leaveOut(_ device: Int64, wave: Int, _ environment: PushEnvironment) {
        let place = shards.firstIndex {
            $0.wave == wave && $0.environment == environment && $0.after < device && device <= $0.last
        }
        if let place, shards[place].devices > 0 { shards[place].devices -= 1 }
    }

    private static func devices(_ shards: [PlannedShard]) -> Int64 { shards.reduce(0) { $0 + $1.devices } }

    private static func walk(
        _ devices: SQL, of app: Int64, size: Int, _ connection: SQLiteConnection
    ) throws -> [PlannedShard] {
        var shards: [PlannedShard] = []
        var after: Int64 = 0
        while let last = try connection.integer(
            "SELECT id \(devices) AND id > ? ORDER BY id LIMIT 1 OFFSET ?", app, after, size - 1)
        {
            shards.append(PlannedShard(after: after, last: last, devices: Int64(size)))
            after = last
        }
        let rest = try connection.first(
            "SELECT count(*), max(id) \(devices) AND id > ?", app, after
        ) { PlannedShard(after: after, last: $0.integer(1), devices: $0.integer(0)) }
        if let rest, rest.devices > 0 { shards.append(rest) }
        return shards
    }

    private static func sandboxDevices(
        in shard: PlannedShard, of app: Int64, _ connection: SQLiteConnection
    ) throws -> Int64 {
        try connection.integer(
            "SELECT count(*) \(DeviceTable.sandbox) AND id > ? AND id <= ?", app, shard.after, shard.last) ?? 0
    }
}
