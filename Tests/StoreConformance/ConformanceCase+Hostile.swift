// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// Every text, however hostile, is stored as a text and comes back as it was.
extension ConformanceCase {
    static let hostile: [ConformanceCase] =
        Hostile.texts.map { text in
            ConformanceCase("a text goes in and out by every door as it is: \(Hostile.name(text))") { subject in
                let tables = try subject.figures()
                try subject.holdVersions(text)
                try subject.holdDevices(text)
                try subject.holdDeliveries(text)
                try subject.holdTheRest(text)
                try check(try subject.figures() == tables.map { $0 + 1 }, "other rows came or went: \(tables)")
            }
        } + refused + [
            ConformanceCase("a text of a megabyte that nothing is looked for by goes in and out as it is") { subject in
                try subject.holdLong(String(repeating: "\u{1F600}'", count: 200_000))
            }
        ]

    private static let refused = Hostile.refused.map { text in
        ConformanceCase("a text that not every database keeps is refused by every door: \(Hostile.name(text))") {
            subject in
            try subject.refuseVersions(text)
            try subject.refuseDevices(text)
            try subject.refuseTheRest(text)
            try same(try subject.figures(), [0, 0, 0, 0, 0])
        }
    }
}

private enum Hostile {
    /// Texts that break stores which paste, cut, fold or count characters. Halves of surrogate pairs and bytes that are not
    /// UTF-8 cannot come this far, because no `String` holds them: readers turn them into U+FFFD.
    static let texts = [
        "'; DROP TABLE device; --", "\"; DELETE FROM campaign; --", "' OR '1'='1", "?1 :name @name $name", "%_\\[*]?",
        "\u{FEFF}x", "x\u{FEFF}", "\u{FFFD}\u{FFFD}\u{FFFD}", "\u{FFFF}\u{10FFFF}",
        "e\u{301}", "\u{E9}", "\r\n\t\u{8}\u{1B}[2J\u{9B}\u{7F}", "\u{202E}\u{2028}\u{2029}\u{200D}", " ", "NULL",
        "0x41",
        "1e999", "[\"a\",{}]", "\"\\u0000", String(repeating: "\u{1F600}'", count: StoreText.longestKey / 5),
    ]
    static let refused = ["a\0b", "\0", String(repeating: "k", count: StoreText.longestKey + 1)]

    static func name(_ text: String) -> String {
        text.utf8.count > 100 ? "\(text.utf8.count) bytes" : text.debugDescription
    }
}

extension Subject {
    /// The counts of the rows that a hostile text might take away.
    fileprivate func figures() throws -> [Int] {
        [
            try store.versions().count, try store.devices(of: nil, after: 0, limit: 1000).count,
            try store.campaigns(before: nil, limit: 1000).count, try store.tokens().count,
            try store.alerts(at: now).count,
        ]
    }

    private func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }

    /// Compared by bytes: to Swift two spellings of "é" are equal.
    private func hold(_ actual: String?, _ text: String, _ what: String) throws {
        try check(bytes(actual) == bytes(text), "\(what) came back otherwise: \(actual?.utf8.count ?? -1) bytes")
    }

    private func hostileApp(_ text: String) -> AppKey { AppKey(app: text, platform: .android) }

    fileprivate func holdLong(_ text: String) throws {
        try holdAlert(text, of: app)
    }

    fileprivate func holdVersions(_ text: String) throws {
        let app = hostileApp(text)
        let receipt = WebhookReceipt(id: text, hook: text, body: [])
        let answer = StoredAnswer(status: 200, body: Array(text.utf8))
        // A bump with faulty fields is refused whole; it is then asked for without those, and the other doors are checked.
        let broken = Set(
            BumpRules(platform: app.platform).faults(
                in: VersionBump(
                    app: app, required: try version("2"), downloadURL: text, message: LocalizedText(text),
                    telephones: [text])
            ).map { String($0.field.prefix { $0 != "[" }) })
        let telephones = broken.contains("telephones") ? ["138"] : [text, "138", text]
        let bump = VersionBump(
            app: app, required: try version("2"), downloadURL: broken.contains("downloadUrl") ? nil : text,
            message: broken.contains("message") ? nil : LocalizedText(text), telephones: telephones)
        let applied = try store.apply(
            bump, actor: text, source: text, at: now,
            draft: CampaignDraft(downloadURL: text, timeToLive: .seconds(60)), waitingReason: text, receipt: receipt
        ) { _ in answer }
        guard case .applied(let outcome, _) = applied else {
            throw ConformanceFailure(description: "taken for a replay")
        }
        try same(try store.answer(to: receipt), answer)
        try same(try store.answer(to: WebhookReceipt(id: text + "x", hook: text, body: [])), nil)
        let record = try present(try store.version(of: app), "the version")
        try same(record, outcome.record)
        let change = try present(try store.history(of: app, limit: 1).first, "the history")
        for (what, held) in [
            ("the app", record.app.app), ("the actor", change.actor), ("the source", change.source),
        ] {
            try hold(held, text, what)
        }
        if bump.downloadURL != nil { try hold(record.texts?.downloadURL, text, "the URL") }
        if bump.message != nil { try hold(record.texts?.message?.text, text, "the message") }
        try check(
            record.requirements.required?.canary?.map(bytes) == telephones.map(bytes),
            "the telephones came back otherwise")
        let campaign = try present(outcome.campaign, "the campaign")
        try same(try store.campaign(campaign.key), campaign)
        try hold(campaign.facts.downloadURL, text, "the campaign's URL")
        if bump.message != nil { try hold(campaign.requirement.message?.text, text, "the campaign's message") }
        try check(
            campaign.requirement.canary?.map(bytes) == telephones.map(bytes), "the campaign's telephones are others")
        try hold(campaign.facts.reason, text, "the campaign's reason")
        try same(try store.campaign(id: text), nil)
    }

    fileprivate func holdDevices(_ text: String) throws {
        let app = hostileApp(text)
        try store.register(
            [DeviceRegistration(app: app, token: text, telephone: text, version: try version("1"))], at: now)
        let device = try present(try store.device(app, token: text), "the device")
        try hold(device.registration.token, text, "the token")
        try hold(device.registration.telephone, text, "the telephone")
        try hold(device.registration.app.app, text, "the device's app")
        try same(try store.device(app, token: text + "x")?.id, nil)
        try same(try store.devices(of: app, after: 0, limit: 10), [device])
        try check(try store.sawVersion(version("1.5"), app: app, token: text, at: now), "the version was not noted")
        try same(try store.sawVersions([Sighting(app: app, token: text, version: try version("1.6"))], at: now), 1)
        // Registered again, by another user and back: the row stays the same, whatever the texts are.
        for telephone in ["138", text] {
            try store.register(
                [DeviceRegistration(app: app, token: text, telephone: telephone, version: try version("1"))], at: now)
        }
        try same(try store.devices(of: app, after: 0, limit: 10).map(\.id), [device.id])
    }

    fileprivate func holdDeliveries(_ text: String) throws {
        let app = hostileApp(text)
        let campaign = try present(try store.openCampaigns().first { $0.app == app }, "the open campaign")
        try store.decide(
            app, .released(nil), by: Signature(by: text, via: text, at: now),
            in: RequirementMachine.Surroundings(now: now))
        let shard = try onlyShard(campaign)
        var devices = DeviceRows()
        try store.readDevices(
            app, channel: shard.channel, after: shard.cursor, through: shard.last, limit: 10, into: &devices)
        let device = try present(devices.rows.first, "the device in the batch")
        try hold(devices.string(device.telephone), text, "the batch's telephone")
        try hold(devices.string(device.token), text, "the batch's token")
        var row = LedgerRow(device: device.id, state: .rejected, attempts: 1)
        row.reason = text
        row.telephone = device.telephone
        try commit(
            [
                LedgerCommit(
                    campaign: campaign.key, shard: shard.range, cursor: device.id, shardDone: true, rows: [row],
                    devices: devices, retirements: [])
            ], at: now)
        for found in [
            try store.deliveries(telephone: text, token: nil, after: nil, limit: 10),
            try store.deliveries(telephone: nil, token: text, after: nil, limit: 10),
            try store.deliveries(
                of: campaign.key, DeliveryFilter(state: .rejected, telephone: text), after: 0, limit: 10),
        ] {
            let delivery = try present(found.first, "the delivery")
            try same(found.count, 1)
            try hold(delivery.telephone, text, "the delivery's telephone")
            try hold(delivery.token, text, "the delivery's token")
            try hold(delivery.reason, text, "the delivery's reason")
        }
        try same(try store.deliveries(telephone: text + "x", token: nil, after: nil, limit: 10), [])
        try same(try record(campaign.key).figures.rejectedBy, [text: 1])
        try check(
            try store.move(campaign.key, .suspended(.credential, text), at: now),
            "not suspended")
        try hold(try record(campaign.key).facts.reason, text, "the reason of the suspension")
    }

    private func holdAlert(_ text: String, of app: AppKey) throws {
        try store.setAlert(
            AlertRecord(app: app, message: text, isBlocking: false, endsAt: nil, createdAt: now, createdBy: text))
        let kept = try present(try store.alert(of: app, at: now), "the alert")
        try hold(kept.message, text, "the alert's message")
        try hold(kept.createdBy, text, "the alert's author")
    }

    fileprivate func holdTheRest(_ text: String) throws {
        try holdAlert(text, of: hostileApp(text))
        let token = AccessToken(name: text, scopes: [.status], createdAt: now, revokedAt: nil)
        let hash = Array((Array(text.utf8) + [UInt8](repeating: 7, count: 32)).prefix(32))
        try store.addToken(token, hash: hash)
        try hold(try store.token(hash: hash)?.name, text, "the API token's name")
        try check(try !store.revokeToken(name: text + "x", at: now), "another API token is revoked")
        _ = try store.mintProviderToken(ProviderToken(text: text, issuedAt: now), key: text, replacing: nil, at: now)
        try check(
            try store.pauseProviderToken(key: text, until: now + .seconds(60), by: text, at: now), "the pause is kept")
        let provider = try present(try store.providerToken(key: text), "the provider token")
        try hold(provider.text, text, "the provider token")
        try hold(provider.pausedBy, text, "the server that wants a pause")
    }
}

/// Nothing is written of a text that is refused.
extension Subject {
    private func refuses<Value>(_ body: () throws -> Value) throws { try fails(.conflict, body) }

    fileprivate func refuseVersions(_ text: String) throws {
        let good = try VersionBump(app: app, required: version("2"))
        try refuses { try self.bump(VersionBump(app: self.hostileApp(text), required: try self.version("2"))) }
        var named = good
        named.telephones = ["138", text]
        try breaksRules(named, "telephones[1]")
        for receipt in [WebhookReceipt(id: text, hook: "h", body: []), WebhookReceipt(id: "i", hook: text, body: [])] {
            try refuses { try self.bump(good, receipt: receipt) }
            try refuses {
                try self.store.keep(StoredAnswer(status: 200, body: []), to: receipt, at: self.now)
            }
        }
        guard text.utf8.contains(0) else { return }
        var said = good
        said.message = LocalizedText(text)
        try breaksRules(said, "message")
    }

    /// `BumpRules` refuses the bump before any database is asked.
    private func breaksRules(_ bump: VersionBump, _ field: String) throws {
        do {
            try self.bump(bump)
        } catch let error as StoreError {
            guard case .breaksRules(let faults) = error.code, faults.map(\.field) == [field] else { throw error }
            return
        }
        throw ConformanceFailure(description: "a bump with such a text in \(field) is taken")
    }

    fileprivate func refuseDevices(_ text: String) throws {
        let good = registration(1, telephone: "138")
        for bad in [registration(2, telephone: text), registration(2, app: hostileApp(text))] {
            try refuses { try self.store.register([good, bad], at: self.now) }
            var batch = RegistrationBatch(app: bad.app)
            batch.append(bad)
            try refuses { try self.store.register(batch, at: self.now) { _ in } }
        }
    }

    fileprivate func refuseTheRest(_ text: String) throws {
        try refuses {
            try self.store.setAlert(
                AlertRecord(
                    app: self.hostileApp(text), message: "m", isBlocking: false, endsAt: nil, createdAt: self.now,
                    createdBy: "t"))
        }
        try refuses {
            try self.store.addToken(
                AccessToken(name: text, scopes: [.status], createdAt: self.now, revokedAt: nil),
                hash: [UInt8](repeating: 7, count: 32))
        }
        try refuses {
            try self.store.mintProviderToken(
                ProviderToken(text: "t", issuedAt: self.now), key: text, replacing: nil, at: self.now)
        }
        try refuses { try self.store.adoptReceivers([NotificationReceiver(url: text, events: [])], at: self.now) }
    }
}
