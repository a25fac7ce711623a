// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

@Suite("The walk of an import's batch through the registry")
struct ImportWalkTests {
    /// A registry of one hash a device, by ascending ids.
    private struct Devices {
        var ids: [Int64: Int64] = [:]
        var hashes: [(id: Int64, hash: Int64)] = []
        /// The devices that runs have read.
        var read = 0

        init(_ hashes: [Int64]) {
            for (place, hash) in hashes.enumerated() {
                ids[hash] = Int64(3 * place + 5)
                self.hashes.append((Int64(3 * place + 5), hash))
            }
        }

        /// The devices of a run, in its order.
        func run(from id: Int64, isBack: Bool) -> [(id: Int64, hash: Int64)] {
            isBack ? hashes.filter { $0.id < id }.reversed() : hashes.filter { $0.id > id }
        }
    }

    /// Walks as a registrar does, and stops runs after each `step` devices.
    ///
    /// - Returns: the rows that a run has met, and those that were looked up, each in its order.
    private func walk(_ rows: [Int64], _ devices: inout Devices, step: Int = .max) -> (met: [Int], lookedUp: [Int]) {
        var keyed = rows.enumerated().map { place, hash in DeviceTable.Keyed(hash: hash, row: Int32(place)) }
        keyed.sort { one, other in one.hash == other.hash ? one.row < other.row : one.hash < other.hash }
        var walk = ImportWalk(byHash: keyed, least: 256)
        var (met, lookedUp): ([Int], [Int]) = ([], [])
        while let anchor = walk.anchor {
            if walk.run == nil { walk.found(devices.ids[rows[anchor]]) }
            guard let run = walk.run else { continue }
            let part = devices.run(from: run.from, isBack: run.isBack)
            for device in part.prefix(step) {
                guard walk.run?.isBack == run.isBack else { break }
                devices.read += 1
                if let place = walk.place(of: device.hash) {
                    met.append(walk.row(at: place))
                    walk.met(device.id, at: place)
                } else {
                    walk.passed(device.id)
                }
            }
            if part.count <= step, walk.run?.isBack == run.isBack { walk.endRun() }
        }
        while let keyed = walk.next() { lookedUp.append(Int(keyed.row)) }
        #expect(walk.isOver)
        #expect((met + lookedUp).sorted() == Array(rows.indices), "each row once")
        return (met, lookedUp)
    }

    private func hashes(_ count: Int, seed: Int) -> [Int64] { (0..<count).map { DeviceTable.hash("\(seed) \($0)") } }

    @Test("A file in the order of the registry is met on one run, but for what is new")
    func inOrder() {
        let known = hashes(5000, seed: 1)
        let new = hashes(100, seed: 2)
        var devices = Devices(known)
        // New rows stand among the others.
        var rows = Array(known[1000..<2000])
        for (place, hash) in new.enumerated() { rows.insert(hash, at: 10 * place + 5) }
        let (met, lookedUp) = walk(rows, &devices)
        #expect(met.count == 1000)
        #expect(Set(lookedUp.map { rows[$0] }) == Set(new))
        #expect(devices.read <= 1000 + 4 * 64, "a run ends where the file's devices end")
    }

    @Test("Ids in another order than the file's are met, too, where they are near each other", arguments: [1, 7, 4096])
    func nearby(step: Int) {
        let known = hashes(4096, seed: 3)
        var devices = Devices(known)
        // Two batches of the first import were stored in the order of their hashes; the file is cut at another place now.
        var rows = Array(known[1024..<3072])
        rows.sort { $0 & 0xffff < $1 & 0xffff }
        let (met, _) = walk(rows, &devices, step: step)
        #expect(met.count == 2048)
    }

    @Test("The first of several rows of one token is met, and the others are looked up after it")
    func duplicates() {
        let known = hashes(1000, seed: 4)
        var devices = Devices(known)
        var rows = known
        for _ in 0..<2 { rows.append(contentsOf: known[10..<20]) }
        let (met, lookedUp) = walk(rows, &devices)
        #expect(met.sorted() == Array(0..<1000))
        for hash in known[10..<20] {
            let places = lookedUp.filter { rows[$0] == hash }
            #expect(places.count == 2 && places == places.sorted())
        }
    }

    @Test("A file in no order, and one of new devices, cost a few runs")
    func anyOrder() {
        let known = hashes(200_000, seed: 5)
        var devices = Devices(known)
        let spread = stride(from: 0, to: 200_000, by: 199).map { known[$0] }
        #expect(walk(spread, &devices).lookedUp.count > 900)
        #expect(devices.read <= 8 * 2 * 64 + 100 * 16)
        devices.read = 0
        #expect(walk(hashes(2000, seed: 6), &devices).met.isEmpty)
        #expect(devices.read == 0)
    }

    @Test("A small batch is looked up")
    func small() {
        let known = hashes(100, seed: 7)
        var devices = Devices(known)
        #expect(walk(known, &devices).lookedUp.count == 100)
        #expect(devices.read == 0)
    }

    @Test("A night's file leaves what its rows would leave one by one: changed, new, removed, twice, of another app")
    func likeOneByOne() throws {
        let (whole, single) = (try StoreFixture(), try StoreFixture())
        let other = AppKey(app: "another", platform: .ios)
        func device(_ app: AppKey, _ number: Int, _ version: String, _ telephone: Int) throws -> DeviceRegistration {
            DeviceRegistration(
                app: app, token: "ab\(number)", telephone: "138\(telephone)", version: try Version(version))
        }
        var night: [DeviceRegistration] = []
        for number in 0..<1200 where number % 11 != 0 {
            night.append(
                try device(
                    whole.app, number, number % 9 == 0 ? "2.0" : "1.0", number % 17 == 0 ? number + 5000 : number))
            if number % 100 == 1 { night.append(try device(whole.app, number, "0.9", number + 9000)) }
            if number % 3 == 2 { night.append(try device(whole.app, number + 100_000, "1.0", number)) }
        }
        for fixture in [whole, single] {
            // The same tokens are another app's, too, and so are those that are new.
            for app in [fixture.app, other] {
                var batch = RegistrationBatch(app: app)
                for number in 0..<1000 {
                    batch.append(try device(app, number, "1.0", number))
                    if app == other { batch.append(try device(app, number + 100_000, "1.0", number)) }
                }
                try fixture.store.register(batch, at: fixture.now) { _ in }
            }
            for number in stride(from: 3, to: 1000, by: 40) {
                _ = try fixture.store.removeDevice(fixture.app, token: "ab\(number)")
            }
        }
        let later = whole.now + .seconds(60)
        var batch = RegistrationBatch(app: whole.app)
        for device in night { batch.append(device) }
        let counts = try whole.store.register(batch, at: later) { _ in }
        var sum = UpsertCounts()
        for device in night {
            var batch = RegistrationBatch(app: single.app)
            batch.append(device)
            sum += try single.store.register(batch, at: later) { _ in }
        }
        #expect(counts == sum)
        let devices = """
            SELECT app_id, token, telephone, version, registered_at, removed_at IS NULL, seen_at, retired_at FROM device
            ORDER BY app_id, token
            """
        #expect(try whole.store.inspect(devices) == single.store.inspect(devices))
        let tallies = "SELECT app_id, version, devices FROM version_seen ORDER BY 1, 2"
        #expect(try whole.store.inspect(tallies) == single.store.inspect(tallies))
    }
}
