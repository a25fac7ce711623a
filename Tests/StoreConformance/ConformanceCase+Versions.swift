// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let versions: [ConformanceCase] = [
        ConformanceCase("an empty store knows no versions") { subject in
            try same(try subject.store.version(of: subject.app), nil)
            try same(try subject.store.versions(), [])
            try same(try subject.store.history(of: subject.app, limit: 10), [])
            try subject.store.checkWritable()
        },
        ConformanceCase("a bump is stored as it was given, and nil leaves versions as they are") { subject in
            try subject.bump(
                VersionBump(
                    app: subject.app, latest: try subject.version("2.01.0"), required: try subject.version("1.9"),
                    downloadURL: Subject.url, message: "häufig \"neu\"", telephones: ["+86 138", "e\u{301}\\"]))
            let record = try present(try subject.store.version(of: subject.app), "the record")
            try same(record.latest?.text, "2.01.0")
            try same(record.required?.text, "1.9")
            try same(record.texts?.downloadURL, Subject.url)
            try same(record.texts?.message, "häufig \"neu\"")
            try same(
                record.requirements.required?.canary.map { $0.map { Array($0.utf8) } },
                [Array("+86 138".utf8), Array("e\u{301}\\".utf8)])
            try same(record.updatedAt, subject.now)
            try subject.bump(VersionBump(app: subject.app, latest: try subject.version("2.2")))
            let next = try present(try subject.store.version(of: subject.app), "the record")
            try same([next.latest?.text, next.required?.text], ["2.2", "1.9"])
            try same(next.requirements.required?.canary, record.requirements.required?.canary)
        },
        ConformanceCase("texts are those of one bump: left out, they are the configuration's again") { subject in
            func bump(
                _ required: String?, _ latest: String? = nil, url: String? = nil, message: String? = nil
            ) throws -> (record: VersionRecord, campaign: CampaignRecord?) {
                let outcome = try subject.bump(
                    VersionBump(
                        app: subject.app, latest: try latest.map { try subject.version($0) },
                        required: try required.map { try subject.version($0) }, downloadURL: url,
                        message: message.map { LocalizedText($0) }),
                    draft: CampaignDraft(downloadURL: Subject.url, timeToLive: .seconds(60)))
                return (outcome.record, outcome.campaign)
            }
            func inForce(_ record: VersionRecord) -> [String?] {
                let inForce = record.inForce
                return [
                    inForce.floor?.downloadURL, inForce.floor?.message?.text, inForce.newest?.downloadURL,
                    inForce.newest?.message?.text,
                ]
            }
            var (record, campaign) = try bump("2.0", url: "https://two", message: "two")
            try same([campaign?.facts.downloadURL, campaign?.requirement.message?.text], ["https://two", "two"])
            try same(inForce(record), ["https://two", "two", "https://two", "two"])
            (record, campaign) = try bump("2.1")
            try same([record.texts?.downloadURL, record.texts?.message?.text], [nil, nil])
            try same(
                [campaign?.facts.downloadURL, campaign?.requirement.message?.text], [Subject.url, nil],
                "not those of 2.0")
            try same(inForce(record), [nil, nil, nil, nil])
            record = try bump("2.1", message: "hurry").record
            try same(inForce(record), [nil, "hurry", nil, "hurry"], "what raises nothing rewords what is asked for")
            record = try bump(nil, "2.2").record
            try same(inForce(record), [nil, "hurry", nil, nil], "2.2 is not 2.1")
            record = try bump(nil, "2.2").record
            try same(inForce(record), [nil, "hurry", nil, nil], "the same again changes nothing")
            record = try bump(nil, url: "https://new").record
            try same(inForce(record), ["https://new", "hurry", "https://new", nil], "both, and what it brings alone")
            record = try bump("2.1").record
            try same(inForce(record), [nil, nil, nil, nil], "the requirement said again is the whole of it")
        },
        ConformanceCase("a message is kept in each of its languages, and so is what it was before") { subject in
            func text(_ words: String, _ translations: [String: String]) -> LocalizedText {
                LocalizedText(
                    words,
                    translations.compactMap { name, text in
                        LanguageTag(name).map { LocalizedText.Translation($0, text) }
                    })
            }
            func say(_ message: LocalizedText?) throws -> VersionRecord {
                let outcome = try subject.bump(
                    VersionBump(app: subject.app, required: try subject.version("2"), message: message))
                return outcome.record
            }
            let first = text("Update \"now\"\n", ["zh-Hans": "请更新", "en": "Update"])
            let outcome = try subject.bump(
                VersionBump(app: subject.app, required: try subject.version("2"), message: first),
                draft: CampaignDraft(downloadURL: Subject.url, timeToLive: .seconds(60)))
            try same(outcome.record.texts?.message, first)
            try same(outcome.campaign?.requirement.message?.text, first.text, "pushes say the default")
            try same(try subject.store.version(of: subject.app)?.texts?.message, first)
            let second = text("Update \"now\"\n", ["ZH-hans": "请马上更新"])
            try same(try say(second).inForce.floor?.message, second, "of the same default, other languages")
            try check(
                try subject.store.version(of: subject.app)?.texts?.message?.isWritten(as: second) ?? false,
                "the spelling of a language is kept")
            let third = text("Now", ["zh-Hans": "请马上更新"])
            try same(try say(third).texts?.message, third, "of the same languages, another default")
            try same(try say("Now").texts?.message, "Now")
            try same(try say(nil).texts?.message, nil)
            let history = try subject.store.history(of: subject.app, limit: 9).map(\.record.texts?.message)
            try same(history.first ?? "none", nil)
            try same(Array(history.dropFirst().prefix(4)), ["Now", third, second, first])
        },
        ConformanceCase("a rise of required replaces the audience with the bump's own") { subject in
            try subject.bump(VersionBump(app: subject.app, required: try subject.version("1"), telephones: ["1"]))
            try subject.bump(VersionBump(app: subject.app, message: "m"))
            try same(try subject.store.version(of: subject.app)?.requirements.required?.canary, ["1"])
            try subject.bump(VersionBump(app: subject.app, required: try subject.version("2")))
            try same(try subject.store.version(of: subject.app)?.requirements.required?.canary, nil)
        },
        ConformanceCase("neither version falls, and the refusal names field, current and proposed") { subject in
            let (two, ten) = (try subject.version("2.9"), try subject.version("2.10"))
            try subject.bump(VersionBump(app: subject.app, latest: ten, required: ten))
            try fails(.versionWouldFall(field: "required", current: ten, proposed: two)) {
                try subject.bump(VersionBump(app: subject.app, required: two), draft: subject.draft())
            }
            try fails(.versionWouldFall(field: "latest", current: ten, proposed: two)) {
                try subject.bump(VersionBump(app: subject.app, latest: two))
            }
            try same(try subject.store.version(of: subject.app)?.latest, ten)
            try same(try subject.store.history(of: subject.app, limit: 10).count, 1)
        },
        ConformanceCase("a required version above latest raises latest with it") { subject in
            try subject.bump(VersionBump(app: subject.app, latest: try subject.version("1.0")))
            try subject.bump(VersionBump(app: subject.app, required: try subject.version("1.1")))
            try same(try subject.store.version(of: subject.app)?.latest?.text, "1.1")
            try subject.bump(
                VersionBump(app: subject.app, latest: try subject.version("1.2"), required: try subject.version("1.3")))
            try same(try subject.store.version(of: subject.app)?.latest?.text, "1.3")
        },
        ConformanceCase("an unchanged bump leaves no history and an equal spelling is no rise") { subject in
            try check(
                try subject.bump(VersionBump(app: subject.app, required: try subject.version("2.0"))).requiredRose, "")
            let again = try subject.bump(
                VersionBump(app: subject.app, required: try subject.version("2.00.0")), draft: subject.draft())
            try check(!again.requiredRose && again.campaign == nil, "2.00.0 is not above 2.0")
            try same(try subject.store.history(of: subject.app, limit: 10).count, 1)
            try same(try subject.store.version(of: subject.app)?.required?.text, "2.0")
        },
        ConformanceCase("the history is newest first, with who and from where") { subject in
            for (number, text) in ["1", "2", "3"].enumerated() {
                try subject.bump(
                    VersionBump(app: subject.app, required: try subject.version(text)),
                    at: subject.now + .seconds(number))
            }
            let history = try subject.store.history(of: subject.app, limit: 2)
            try same(history.map { $0.record.required?.text }, ["3", "2"])
            try same(history.map(\.actor), ["tester", "tester"])
            try same(history.first?.source, "test")
            try same(history.first?.record.updatedAt, subject.now + .seconds(2))
        },
        ConformanceCase("versions are listed by app and platform") { subject in
            for (name, platform) in [("b", Platform.ios), ("a", .ios), ("a", .android)] {
                try subject.bump(
                    VersionBump(app: AppKey(app: name, platform: platform), latest: try subject.version("1")))
            }
            let apps = try subject.store.versions().map { "\($0.app.app) \($0.app.platform.rawValue)" }
            try same(apps, ["a android", "a ios", "b ios"])
        },
        ConformanceCase("a rise makes one campaign, with what the record and the draft say") { subject in
            let outcome = try subject.bump(
                VersionBump(
                    app: subject.app, latest: try subject.version("2.1"), required: try subject.version("2.0"),
                    message: "m", telephones: ["1", "2"]),
                draft: CampaignDraft(downloadURL: Subject.url, timeToLive: .seconds(60)), waitingReason: "not out yet")
            let campaign = try present(outcome.campaign, "the campaign")
            try check(outcome.requiredRose, "required rose")
            try check(
                campaign.id.utf8.count == 12 && campaign.id.allSatisfy { "0123456789abcdef".contains($0) },
                "twelve hex digits, not \(campaign.id)")
            try same(campaign.app, subject.app)
            try same([campaign.requirement.version.text, campaign.latest?.text], ["2.0", "2.1"])
            try same([campaign.facts.downloadURL, campaign.requirement.message?.text], [Subject.url, "m"])
            try same(campaign.requirement.canary, ["1", "2"])
            try same(campaign.state, .waiting)
            try same(campaign.facts.reason, "not out yet")
            try same(
                [campaign.facts.createdAt, campaign.facts.startedAt, campaign.facts.finishedAt],
                [subject.now, nil, nil])
            try same(campaign.facts.expiresAt, subject.now + .seconds(60))
            try same(try subject.store.campaign(id: campaign.id), campaign)
            try same(try subject.store.campaign(campaign.key), campaign)
        },
        ConformanceCase("latest alone makes no campaign, and reconciling finds nothing to do") { subject in
            let outcome = try subject.bump(
                VersionBump(app: subject.app, latest: try subject.version("2")), draft: subject.draft())
            try same(outcome.campaign, nil)
            try same(try subject.store.reconcile(subject.app, draft: subject.draft(), at: subject.now).campaign, nil)
            try same(try subject.store.openCampaigns(), [])
        },
        ConformanceCase("a rise without a download URL is refused as a whole") { subject in
            try fails(.noDownloadURL) {
                try subject.bump(
                    VersionBump(app: subject.app, required: try subject.version("2")),
                    draft: CampaignDraft(downloadURL: nil, timeToLive: .seconds(1)))
            }
            try same(try subject.store.version(of: subject.app), nil)
        },
        ConformanceCase("reconciling announces a rise that nobody announced, once") { subject in
            try subject.bump(
                VersionBump(app: subject.app, required: try subject.version("2"), downloadURL: "https://own"))
            let campaign = try subject.store.reconcile(subject.app, draft: subject.draft(), at: subject.now).campaign
            try same(campaign?.requirement.version.text, "2")
            try same(campaign?.facts.downloadURL, "https://own")
            try same(campaign?.facts.startedAt, subject.now)
            try same(try subject.store.reconcile(subject.app, draft: subject.draft(), at: subject.now).campaign, nil)
        },
        ConformanceCase("concurrent bumps and reconciliations make exactly one campaign for each rise") { subject in
            for required in ["1", "1.1", "2.0.1"] {
                let version = try subject.version(required)
                let made = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<12 {
                        group.addTask {
                            if number.isMultiple(of: 2) {
                                let found = try subject.store.reconcile(
                                    subject.app, draft: subject.draft(), at: subject.now
                                ).campaign
                                return found?.requirement.version == version ? 1 : 0
                            }
                            let outcome = try subject.bump(
                                VersionBump(app: subject.app, required: version),
                                draft: number % 4 == 1 ? subject.draft() : nil)
                            return outcome.campaign == nil ? 0 : 1
                        }
                    }
                    return try await group.reduce(0, +)
                }
                let late = try subject.store.reconcile(subject.app, draft: subject.draft(), at: subject.now).campaign
                try same(made + (late == nil ? 0 : 1), 1, "campaigns made for \(required)")
            }
            try same(
                try subject.store.campaigns(before: nil, limit: 10).map(\.requirement.version.text),
                ["2.0.1", "1.1", "1"])
            try same(try subject.store.openCampaigns().count, 1)
        },
        ConformanceCase("a newer requirement supersedes the open campaign of its app alone") { subject in
            let other = AppKey(app: subject.app.app, platform: .android)
            try subject.registerDevices(10)
            let bystander = try subject.announce("1.5", app: other)
            let first = try subject.announce("1.5")
            let shard = try subject.onlyShard(first)
            let retryAt = subject.now + .seconds(5)
            try subject.commit(
                [
                    try subject.batch(shard, limit: 4) { device in
                        LedgerRow(
                            device: device.id, state: device.id % 2 == 0 ? .retrying : .accepted, attempts: 1,
                            nextAttemptAt: device.id % 2 == 0 ? retryAt : nil)
                    }
                ], at: subject.now)
            let second = try subject.announce("2", at: subject.now + .seconds(1))
            let old = try subject.record(first.key)
            try same(old.state, .superseded)
            try check(old.facts.reason != nil, "the reason is told")
            try same(old.facts.finishedAt, subject.now + .seconds(1))
            try same(
                [old.figures.counts.accepted, old.figures.counts.cancelled, old.figures.counts.audience], [2, 8, 10])
            try same(try subject.store.nextRetry(first.key, channel: .production), nil)
            try same(try subject.open(first.key), [])
            try same(try subject.record(bystander.key).state, .running)
            try same(try subject.store.openCampaigns().map(\.key), [bystander.key, second.key])
        },
    ]

    static let webhooks: [ConformanceCase] = [
        ConformanceCase("a replayed webhook gets the first answer and changes nothing") { subject in
            let receipt = WebhookReceipt(id: "msg_1", hook: "version", body: [])
            let answer = StoredAnswer(status: 202, body: [0, 1, 255])
            func send(_ required: String, _ receipt: WebhookReceipt) throws -> AppliedBump {
                try subject.store.apply(
                    VersionBump(app: subject.app, required: try subject.version(required)), actor: "hook",
                    source: "webhook", at: subject.now, draft: subject.draft(), receipt: receipt
                ) { outcome in
                    try check(outcome.requiredRose && outcome.campaign != nil, "the answer is made of the outcome")
                    return answer
                }
            }
            try same(try subject.store.answer(to: receipt), nil)
            guard case .applied(_, answer) = try send("2", receipt) else {
                throw ConformanceFailure(description: "the first delivery was not applied")
            }
            guard case .replayed(answer) = try send("3", receipt) else {
                throw ConformanceFailure(description: "the second delivery was not a replay")
            }
            try same(try subject.store.answer(to: receipt), answer)
            try same(try subject.store.version(of: subject.app)?.required?.text, "2")
            try fails(.webhookDiffers) { _ = try send("9", WebhookReceipt(id: "msg_1", hook: "version", body: [1])) }
            // Ids of different hooks do not collide, and a forgotten id is new again.
            guard case .applied = try send("4", WebhookReceipt(id: "msg_1", hook: "github", body: [])) else {
                throw ConformanceFailure(description: "another hook's id was taken for a replay")
            }
            try same(try subject.store.forgetWebhooks(before: subject.now), 0)
            try same(try subject.store.forgetWebhooks(before: subject.now + .seconds(1)), 2)
            try same(try subject.store.answer(to: receipt), nil)
        },
        ConformanceCase("a body that is its own id is never forgotten") { subject in
            let receipt = WebhookReceipt(id: "sha256:00ff", hook: "github", body: [7])
            let answer = try subject.store.keep(StoredAnswer(status: 200, body: [1]), to: receipt, at: subject.now)
            let later = subject.now + .seconds(400 * 86_400)
            try same(try subject.store.forgetWebhooks(before: later), 0)
            try same(try subject.store.prune(before: later, at: later) { _ in true }.webhooks, 0)
            try same(try subject.store.answer(to: receipt), answer)
        },
        ConformanceCase("an answer to a webhook that changes nothing is kept, and the first one counts") { subject in
            let receipt = WebhookReceipt(id: "msg_1", hook: "github", body: [])
            let first = StoredAnswer(status: 200, body: [1])
            try same(try subject.store.keep(first, to: receipt, at: subject.now), first)
            try same(
                try subject.store.keep(StoredAnswer(status: 200, body: [2]), to: receipt, at: subject.now), first)
            try same(try subject.store.answer(to: receipt), first)
            try same(try subject.store.versions(), [])
        },
        ConformanceCase("the same webhook twelve times at once is applied once") { subject in
            let receipt = WebhookReceipt(id: "msg_1", hook: "version", body: [])
            let applied = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        let bump = VersionBump(app: subject.app, required: try subject.version("\(number + 1)"))
                        let result = try subject.store.apply(
                            bump, actor: "hook", source: "webhook", at: subject.now, draft: subject.draft(),
                            receipt: receipt
                        ) { _ in StoredAnswer(status: 202, body: []) }
                        if case .applied = result { return 1 }
                        return 0
                    }
                }
                return try await group.reduce(0, +)
            }
            try same(applied, 1)
            try same(try subject.store.campaigns(before: nil, limit: 10).count, 1)
            try same(try subject.store.history(of: subject.app, limit: 10).count, 1)
        },
        ConformanceCase("an answer that cannot be made undoes the bump") { subject in
            struct Unanswerable: Error {}
            do {
                _ = try subject.store.apply(
                    VersionBump(app: subject.app, required: try subject.version("2")), actor: "hook", source: "webhook",
                    at: subject.now, draft: subject.draft(), receipt: WebhookReceipt(id: "1", hook: "version", body: [])
                ) { _ in throw Unanswerable() }
                throw ConformanceFailure(description: "nothing was thrown")
            } catch is Unanswerable {}
            try same(try subject.store.version(of: subject.app), nil)
            try same(try subject.store.campaigns(before: nil, limit: 1), [])
            try same(try subject.store.answer(to: WebhookReceipt(id: "1", hook: "version", body: [])), nil)
        },
    ]
}
