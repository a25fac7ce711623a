// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules
import VersionSources
import WireFormat

extension API {
    func apps(_ caller: Caller) throws -> Response {
        let rows = try versions().filter { caller.maySee($0.app) }
        return .json {
            $0.page(rows, next: nil) { writer, row in
                writer.object(
                    ShownVersion(app: row.app, status: row.status), ShownVersion.shape, for: caller.sight)
            }
        }
    }

    /// Every app that is or was configured, in the order of names; without a status where nothing was ever stored for it.
    func versions() throws -> [(app: AppKey, status: VersionStatus?)] {
        var records: [AppKey: VersionRecord?] = [:]
        for app in control.apps() { records[app] = .some(nil) }
        for record in try store.versions() { records[record.app] = record }
        return records.sorted { $0.key < $1.key }.map { ($0.key, $0.value.map(control.requirements.status)) }
    }

    func version(_ call: inout Call) throws -> Response {
        let (app, sight) = (call.app, call.sight)
        let limit = call.query.limit(default: 20)
        try call.query.finish()
        try require(app)
        let history = try store.history(of: app, limit: limit)
        let inForceHistory = try store.inForceHistory(of: app, limit: limit)
        let status = try store.version(of: app).map(control.requirements.status)
        let required = try shown(.required(app))
        let release = try shown(.release(app, nil, nil))
        let answer = VersionHistory(
            version: ShownVersion(app: app, status: status), shown: required,
            releasable: release.facts[.version] == .nothing ? nil : release,
            warnings: status.map { control.requirements.warnings(of: $0.record) } ?? [],
            approvals: try openApprovals(of: app), changes: history,
            inForceChanges: inForceHistory)
        return .json { $0.object(answer, VersionHistory.shape, for: sight) }
    }

    /// The facts that a person is shown before an act.
    package func shown(_ subject: ActSubject) throws -> Shown { try store.facts(subject, at: now()) }

    package func bump(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        let (bump, carried) = try read(body, app)
        return try apply(bump, by: Self.alone(caller.confirming(carried.shown), carried.alone), receipt: nil)
    }

    func read(_ body: [UInt8], _ app: AppKey) throws -> (VersionBump, Carried) {
        var carried = Carried()
        let bump = try BumpBody.read(body, app: app, schemes: control.profile(of: app)?.downloadSchemes ?? []) {
            carried.shown = Shown(.raise, in: &$0)
            carried.alone = Self.alone(&$0)
        }
        return (bump, carried)
    }

    func plan(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        let (report, warnings) = try planned(app, body: body, by: caller)
        let record = try store.version(of: app)
        return .json {
            $0.object(
                ShownPlan(app: app, report: report, inForce: record?.inForce.required, warnings: warnings),
                ShownPlan.shape)
        }
    }

    /// The dry run of a bump, with warnings for people.
    package func planned(
        _ app: AppKey, body: [UInt8], by caller: Caller
    ) throws -> (report: PlanReport, warnings: [String]) {
        try require(app)
        let (bump, _) = try read(body, app)
        let slot = try long.take(
            for: app.app, busy: "a plan of \(app.app) is being made already, which takes as long as it has devices",
            retryAfter: 5)
        defer { withExtendedLifetime(slot) {} }
        let report = try control.requirements.plan(bump)
        let seen = try store.seenVersions(of: app)
        let advice = report.planned.map { versionCache.documentWarnings(for: $0, seen: seen) } ?? []
        let warnings =
            try unknown(in: bump, for: caller.sight) + report.systemWarnings(seen) + blockWarnings(bump, seen)
            + report.blockWarnings + (report.planned.map(control.requirements.warnings) ?? []) + advice
            + [report.hours?.text].compactMap(\.self)
            + (report.wantsSecondPerson
                ? ["it reaches so many devices that it waits for a second person (approval of the app)"] : [])
        return (report, warnings)
    }

    package func release(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        let carried = try Self.carried(.release, body, mayBeUrgent: true)
        let caller = try Self.alone(caller.confirming(carried.shown), carried.alone)
        let record = try control.requirements.release(app: app, isUrgent: carried.isUrgent, by: caller.actor)
        return .json {
            $0.object(
                (
                    version: ShownVersion(control.requirements.status(record)),
                    sentence: ActWords.after(releaseOf: record)
                ),
                ShownVersion.releasedShape, for: caller.sight)
        }
    }

    package func withdraw(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        var fields = try BodyFields(body.isEmpty ? Array("{}".utf8) : body)
        if fields.names("blocked") { return try unblock(app, &fields, by: caller) }
        if !fields.names("required") {
            fields.refuse(
                "required",
                "is missing; the version that is withdrawn is needed, such as \"20.0.0\", or in `blocked` those that are unblocked"
            )
        }
        let required = fields.version("required")
        let reason = fields.text("reason", example: "20.0.0 was meant to be 2.0.0", limit: 200)
        let shown = Shown(.withdraw, in: &fields)
        try fields.finish()
        guard let required else {
            throw ProblemDetails(field: "required", "is null; the version that is withdrawn is needed")
        }
        let withdrawal = try control.requirements.withdraw(
            required, of: app, by: caller.actor.confirming(shown), reason: reason)
        let answer = WithdrawalResult(
            withdrawn: withdrawal.withdrawn, version: control.requirements.status(withdrawal.record),
            campaign: try withdrawal.campaign.map(control.requirements.status))
        return .json { $0.object(answer, WithdrawalResult.shape, for: caller.sight) }
    }

    private func unblock(_ app: AppKey, _ fields: inout BodyFields, by caller: Caller) throws -> Response {
        let versions = BumpBody.blocked(&fields)
        let reason = fields.text("reason", example: "2.1.5 starts again since the server was mended", limit: 200)
        let shown = Shown(.unblock, in: &fields)
        try fields.finish()
        let record = try control.requirements.unblock(
            versions, of: app, by: caller.actor.confirming(shown), reason: reason)
        let answer = UnblockingResult(unblocked: versions, version: control.requirements.status(record))
        return .json { $0.object(answer, UnblockingResult.shape, for: caller.sight) }
    }

    func apply(_ bump: VersionBump, by caller: Caller, receipt: WebhookReceipt?) throws -> Response {
        // A webhook's answer is stored, and the erasure of a user would not find a number in it.
        let sight = receipt == nil ? caller.sight : .counted
        let unknown = try unknown(in: bump, for: sight)
        let applied = try control.requirements.bump(
            bump, by: caller.actor, receipt: receipt
        ) { [self] outcome, seen in
            if let waiting = outcome.waiting { return asked(waiting) }
            let hours = bump.isUrgent ? nil : control.requirements.hoursWait(of: outcome)
            return Self.answer(
                to: outcome, control.requirements.status(outcome.record), for: sight,
                warnings: unknown + blockWarnings(bump, seen)
                    + control.requirements.warnings(of: outcome.record)
                    + versionCache.documentWarnings(for: outcome.record, seen: seen) + [hours?.text].compactMap(\.self))
        }
        switch applied {
        case .applied(_, let answer): return .json(answer.status, answer.body)
        case .replayed(let answer): return .replay(answer)
        }
    }

    /// Warns of a canary's numbers that no device has: a person who mistyped one would wait in vain for its push.
    private func unknown(in bump: VersionBump, for sight: Redaction) throws -> [String] {
        let unknown = try (bump.telephones ?? []).filter {
            try store.devices(of: bump.app, telephone: $0, limit: 1).isEmpty
        }
        guard !unknown.isEmpty else { return [] }
        let app = "\(bump.app.app) \(bump.app.platform.rawValue)"
        let names = try unknown.prefix(20).map { telephone in
            let similar = try sight == .whole ? userSearch.similar(to: telephone) { $0 == bump.app } : []
            return sight.telephone(telephone)
                + (similar.isEmpty ? "" : " (it is known as \(similar.joined(separator: ", ")))")
        }.joined(separator: ", ")
        let which = sight == .counted ? "\(unknown.count) of them" : names
        let rest = sight != .counted && unknown.count > 20 ? " and \(unknown.count - 20) more" : ""
        return ["of the canary's phone numbers no device of \(app) has \(which)\(rest)"]
    }

    /// The answer to a bump. Called inside the store's transaction, so it asks no other component: a campaign that was just made
    /// has no rate.
    static func answer(
        to outcome: BumpOutcome, _ status: VersionStatus, for sight: Redaction, warnings: [String] = []
    ) -> StoredAnswer {
        let result = BumpResult(
            version: status, campaign: outcome.campaign, blockCampaigns: outcome.blocked.compactMap(\.campaign),
            warnings: warnings,
            sentence: ActWords.after(
                bump: status, rose: outcome.requiredRose, outcome.campaign,
                outcome.blocked.map(\.requirement.version), outcome.blocked.compactMap(\.campaign)))
        var writer = JSONWriter()
        writer.object(result, BumpResult.shape, for: sight)
        let isNews = outcome.requiredRose || !outcome.blocked.isEmpty
        return StoredAnswer(status: isNews ? 202 : 200, body: writer.bytes)
    }

    /// The answer to a bump that waits for a second person. Called inside the store's transaction, too.
    private func asked(_ waiting: Approval) -> StoredAnswer {
        var writer = JSONWriter()
        writer.object(ShownApproval(waiting, at: now()), ShownApproval.askedShape)
        return StoredAnswer(status: 202, body: writer.bytes)
    }

    /// Warnings about the limits of a block, and about possible mistakes.
    private func blockWarnings(_ bump: VersionBump, _ seen: SeenVersions) -> [String] {
        let unseen = bump.blocked.filter { version in !seen.versions.contains { $0.version == version } }
        let warnings = unseen.map { "no device was seen with \($0)" }
        guard !bump.blocked.isEmpty, versionCache.isDocumentUsed(bump.app.app) else { return warnings }
        let names = bump.blocked.map(\.text).joined(separator: ", ")
        return warnings + [
            "the launch document has no word for a single version: apps that read it alone do not leave \(names)"
        ]
    }
}

extension PlanReport {
    /// Warnings about devices that cannot leave a blocked version, and about blocks that push to no device.
    fileprivate var blockWarnings: [String] {
        blocks.filter { $0.osTooOld > 0 }.map {
            "\($0.osTooOld) devices that run \($0.version) have a system on which no version above it runs: they are not pushed to and "
                + "not forced"
        }
            + blocks.compactMap { block in
                block.superseder.map {
                    "\(block.version) is below \($0), which is in force: its block pushes to no device: each of its users must have \($0)"
                }
            }
    }

    /// The share of devices, in thousandths, from which a warning reports that some can never obey.
    private static let neverShare: Int64 = 5

    /// Warnings about devices whose system is too old for the required version, and about the effect on the launch
    /// document, which does not ask for the system.
    fileprivate func systemWarnings(_ seen: SeenVersions) -> [String] {
        guard let minimum = planned?.requirements.required?.minimumOS, let required else { return [] }
        var warnings: [String] = []
        let never = survey.filteredBy[.osTooOld] ?? 0
        if never > 0, never * 1000 >= survey.audience * Self.neverShare {
            let percent = WavePlan.percentText(Int(never * 10_000 / survey.audience))
            warnings.append(
                "\(never) of \(survey.audience) devices (\(percent) %) have a system older than \(minimum) and can never get "
                    + "\(required): they are not pushed to and not forced")
        }
        if let oldest = seen.systems.min(), oldest < minimum {
            warnings.append(
                "the launch document does not ask for the system of a phone, and devices have \(oldest): it does not require "
                    + "\(required), which needs \(minimum)")
        }
        return warnings
    }
}
