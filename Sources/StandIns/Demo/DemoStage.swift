// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import PrivatePostgres
import PushSimulator
import RelayEngine
import Signing
import Synchronization
import Terminal
import Threading
import WireFormat

/// The demo's story, act by act: one platform's campaign after the other's.
struct DemoStage: Sendable {
    let ground: DemoGround
    let store: DemoStore
    /// Whether the store's data stays afterwards.
    let keeps: Bool
    let platforms: [DemoPlatform]
    /// The number of devices of all platforms together.
    let devices: Int
    let console: Console
    let isJSON: Bool

    struct Result: Sendable {
        var isRight: Bool
        var json: JSONValue
    }

    /// One platform's devices and their push service.
    private struct Side {
        let population: DemoPopulation
        let service: any DemoService
        let simulator: PushSimulator

        var platform: DemoPlatform { population.platform }
        var name: String { platform.rawValue }
    }

    func play() async throws -> Result {
        var sides: [Side] = []
        defer { for side in sides { side.simulator.stop() } }
        for (place, platform) in platforms.enumerated() {
            // The first platforms get the devices that cannot be shared evenly.
            let count = devices / platforms.count + (place < devices % platforms.count ? 1 : 0)
            sides.append(try start(DemoPopulation(platform, count: count)))
        }
        let store = try store.open(on: ground)
        defer { end(store.server) }
        // Slow enough to kill a relay in the middle.
        let pace = ground.places.count > 1 ? max(20, devices / platforms.count / 8) : nil
        try ground.furnish(
            sides.map { ($0.platform, $0.service, $0.simulator) }, store: store.settings, ratePerSecond: pace)
        let relays = try DemoRelays(ground.places)
        do {
            let result = try await play(sides, relays, store)
            let endedInOrder = await relays.stop()
            if !endedInOrder { narrate("The daemon did not end in order when it was asked to.") }
            return Result(isRight: result.isRight && endedInOrder, json: result.json)
        } catch {
            _ = await relays.stop()
            let log = ground.logEnd(lines: 15)
            if !log.isEmpty, !(error is CancellationError) { console.writeError("the daemon's log ends:\n\(log)\n") }
            throw error
        }
    }

    private func end(_ server: PostgresServer?) {
        guard let server else { return }
        guard keeps else { return server.end() }
        server.endKeepingData()
        narrate("PostgreSQL's data: \(server.folder)/data")
    }

    // MARK: Acts

    private func start(_ population: DemoPopulation) throws -> Side {
        let service = try population.platform.service.init()
        var configuration = SimulatorConfiguration(service.simulated)
        configuration.faults = population.faults
        let simulator = try PushSimulator(configuration)
        try simulator.start()
        narrate(
            "\(configuration.service.kind.name) simulator on https://127.0.0.1:\(simulator.port): 1% of the tokens are "
                + "dead, some are bad, some busy.")
        return Side(population: population, service: service, simulator: simulator)
    }

    private func play(_ sides: [Side], _ relays: DemoRelays, _ store: DemoStore.Open) async throws -> Result {
        let control = RelayClient(CurlAPITransport(socket: relays.places[0].controlSocket))
        try await relays.waitUntilReady()
        let url = relays.places.map { "http://\($0.address)" }.joined(separator: " and ")
        let place = store.server.map { "its store in PostgreSQL at \($0.folder), all else" } ?? "everything it keeps"
        narrate(
            "\(relays.areSeveral ? "\(relays.places.count) relays" : "Daemon") on \(url), \(place) in \(ground.directory)."
        )
        let token = try await makeToken(control)
        let clients = relays.places.map { RelayClient(CurlAPITransport(url: "http://\($0.address)", token: token)) }
        let api = clients[0]
        for side in sides { try await register(side.population, api) }
        var results: [(name: String, result: Result)] = []
        for side in sides {
            let others = sides.map(\.population).filter { $0.platform != side.platform }
            results.append((side.name, try await campaign(side, others: others, clients, relays)))
        }
        let isRight = results.allSatisfy(\.result.isRight)
        narrate(isRight ? "Every figure adds up." : "Some figures do not add up.")
        let json: JSONValue = [
            "ok": .bool(isRight), "devices": .integer(devices), "store": .string(self.store.rawValue),
            "platforms": .object(results.map { JSONMember(name: $0.name, value: $0.result.json) }),
        ]
        return Result(isRight: isRight, json: json)
    }

    private func campaign(
        _ side: Side, others: [DemoPopulation], _ clients: [RelayClient], _ relays: DemoRelays
    ) async throws -> Result {
        let (population, simulator, api) = (side.population, side.simulator, clients[0])
        let plan = try await dryRun(side, api)
        let began = ContinuousClock.now
        let id = try await announce(side, api)
        let campaign =
            relays.areSeveral ? try await watchKilling(id, side, clients, relays) : try await watch(id, api)
        let elapsed = ContinuousClock.now - began
        if relays.areSeveral {
            try relays.revive()
            try await relays.waitUntilReady()
        }
        let figures = simulator.figures
        let campaigns = try await api.reply(to: APIRequest("GET", ["v1", "campaigns"])).items.filter {
            $0[.platform]?.string == side.name
        }
        let ledger = DemoLedger(
            side.platform, campaign: campaign, wouldBePushed: plan.count(.toPush), campaigns: Int64(campaigns.count),
            expectation: DemoLedger.Expectation(population), figures: figures,
            reach: DemoLedger.Reach(population, others: others, simulator.accepted()),
            isInterrupted: relays.areSeveral)
        conclude(side, campaign, ledger, figures, elapsed)
        let isRight = ledger.addsUp && campaign.state == CampaignState.completed.rawValue
        let json: JSONValue = [
            "ok": .bool(isRight), "devices": .integer(population.count),
            "seconds": .number("\(Double(elapsed.milliseconds) / 1000)"), "campaign": campaign.json,
            "simulator": figures.json, "samplePayload": plan[.samplePayload] ?? .null, "checks": ledger.json,
        ]
        return Result(isRight: isRight, json: json)
    }

    private func makeToken(_ control: RelayClient) async throws -> String {
        let scopes = ["status", "versions", "devices", "campaigns"].map(JSONValue.string)
        let body: JSONValue = ["name": .string("demo"), "scopes": .array(scopes)]
        let reply = try await control.reply(to: APIRequest("POST", ["v1", "tokens"], json: body))
        narrate("API token \"demo\" made over the control socket.")
        return reply.json.shown(.secret)
    }

    private func register(_ population: DemoPopulation, _ api: RelayClient) async throws {
        let total = population.count + population.otherCount
        let display = ProgressDisplay(console, label: "registering", total: Int64(total), isQuiet: isJSON)
        var upload = DeviceUpload(api)
        for number in 0..<total {
            let isOther = number >= population.count
            let device = isOther ? population.otherDevice(number - population.count) : population.device(number)
            let line = DeviceLine(
                app: isOther ? DemoPopulation.otherApp : DemoPopulation.app, platform: population.platform.rawValue,
                json: device.json)
            try await upload.add([.device(line: number, line)])
            if number % 1000 == 0 { display.update(done: Int64(number)) }
        }
        try await upload.finish()
        display.finish(done: Int64(total))
        if let refused = upload.takeRefused().first {
            throw CommandFailure(.failed, "the API refused device \(refused.line): \(refused.reason)")
        }
        guard upload.tally.stored == Int64(total) else {
            throw CommandFailure(.failed, "\(upload.tally.stored) of \(total) devices were stored")
        }
        narrate(
            "\(Quantity.count(population.count)) \(population.platform.rawValue) devices registered, and "
                + "\(Quantity.count(population.otherCount)) of another app."
        )
    }

    private func dryRun(_ side: Side, _ api: RelayClient) async throws -> JSONValue {
        let path = ["v1", "apps", DemoPopulation.app, side.name, "plan"]
        let body: JSONValue = [
            "required": .string(DemoPopulation.required), "latest": .string(DemoPopulation.latest),
        ]
        let plan = try await api.reply(to: APIRequest("POST", path, json: body)).json
        narrate("\nDry run for version \(DemoPopulation.required) on \(side.name):\n\(PlanText.text(plan))")
        return plan
    }

    /// Sends the webhook twice, as senders do when an answer is lost, and requires the same answer both times.
    private func announce(_ side: Side, _ api: RelayClient) async throws -> String {
        let body: JSONValue = [
            "app": .string(DemoPopulation.app), "platform": .string(side.name),
            "required": .string(DemoPopulation.required), "latest": .string(DemoPopulation.latest),
        ]
        var request = APIRequest("POST", ["v1", "webhooks", "version"], json: body)
        // Standard Webhooks 1.0.0: HMAC-SHA256 over "id.timestamp.body".
        let (id, time) = ("msg_demo_\(side.name)", String(WallClock.now().seconds))
        let signature = HMACSHA256.code(Array("\(id).\(time).".utf8) + body.bytes(), key: ground.webhookKey)
        request.headers = [
            "webhook-id": id, "webhook-timestamp": time, "webhook-signature": "v1,\(Base64.encode(signature))",
        ]
        // With several relays the webhook goes to the last, so that the first must learn of the campaign from it.
        let address = ground.places[ground.places.count - 1].address
        let client = RelayClient(CurlAPITransport(url: "http://\(address)", token: nil))
        let first = try await client.reply(to: request)
        let campaign = first.json[.campaign]?.shown(.id) ?? ""
        guard first.status == 202, !campaign.isEmpty else {
            throw CommandFailure(.failed, "the webhook was answered with \(first.status) and no campaign")
        }
        let second = try await client.reply(to: request)
        guard second.status == first.status, second.bytes == first.bytes else {
            throw CommandFailure(.failed, "the same webhook, sent again, was answered otherwise")
        }
        narrate("A signed webhook raised the required version to \(DemoPopulation.required): campaign \(campaign).")
        return campaign
    }

    /// Kills the relay that sends the campaign when a third of it is done, and watches the campaign through another relay.
    private func watchKilling(
        _ id: String, _ side: Side, _ clients: [RelayClient], _ relays: DemoRelays
    ) async throws -> CampaignText {
        let owner = try await relays.owner(of: id, clients[0])
        let witness = owner == 0 ? 1 : 0
        let isKilled = Mutex(false)
        let last = try await watch(id, clients[witness]) { progress in
            guard let total = progress.total, progress.done * 3 >= total else { return }
            let isDue = isKilled.withLock { isKilled in
                defer { isKilled = true }
                return !isKilled
            }
            if isDue { relays.kill(owner) }
        }
        guard isKilled.withLock({ $0 }) else {
            throw CommandFailure(.failed, "the campaign was over before its relay could be killed")
        }
        narrate(
            "\(relays.places[owner].name), which sent it, was killed (SIGKILL) after a third of it; another relay went on with what was "
                + "not recorded.")
        return last
    }

    private func watch(
        _ id: String, _ api: RelayClient, _ report: @escaping @Sendable (Terminal.Progress) -> Void = { _ in }
    ) async throws -> CampaignText {
        let display = ProgressDisplay(console, label: "pushing", total: nil, isQuiet: isJSON)
        let limit = Duration.seconds(90 + devices / 1000)
        let watch = CampaignWatch(client: api, id: id)
        let last = try await withThrowingTaskGroup(of: CampaignText.self) { group in
            group.addTask {
                try await watch.run {
                    display.update($0.progress)
                    report($0.progress)
                }
            }
            group.addTask {
                try await Task.sleep(for: limit)
                throw CommandFailure(
                    .failed, "the campaign is not done after \(DurationText.rough(seconds: limit.components.seconds))")
            }
            defer { group.cancelAll() }
            guard let last = try await group.next() else { throw CancellationError() }
            return last
        }
        display.finish(last.progress)
        return last
    }

    private func conclude(
        _ side: Side, _ campaign: CampaignText, _ ledger: DemoLedger, _ figures: SimulatorFigures, _ elapsed: Duration
    ) {
        narrate(
            "Campaign \(campaign.state) in \(DurationText.elapsed(elapsed)). "
                + "The \(side.service.simulated.kind.name) simulator saw \(figures.text).")
        narrate(ledger.table)
        let wrong = ledger.checks.filter { !$0.isRight }.count
        if wrong > 0 { narrate("\(wrong) figures do not add up.") }
    }

    private func narrate(_ text: String) {
        if !isJSON { console.writeLine(text) }
    }
}
