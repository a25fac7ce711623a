// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import VersionSources
import WireFormat

/// The alert that every user of an app gets at launch (SEEDS S5).
extension API {
    func alert(_ app: AppKey) throws -> Response {
        try require(app)
        guard let alert = try store.alert(of: app, at: now()) else { throw Self.noAlert }
        return .json { $0.object(alert, AlertRecord.shape) }
    }

    func setAlert(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        let now = now()
        var fields = try BodyFields(body)
        let message = fields.text("message", example: "Back at 6 pm.", limit: BumpBody.maximumMessage)
        if message == nil, !fields.faults.contains(where: { $0.field == "message" }) {
            fields.refuse("message", "is missing; a string is needed, such as \"Back at 6 pm.\"")
        }
        let isBlocking = fields.bool("blocking")
        let endsAt = fields.time("endsAt")
        if let endsAt {
            if endsAt <= now { fields.refuse("endsAt", "must be in the future; got \(endsAt.internetTime)") }
        } else if isBlocking, !fields.faults.contains(where: { $0.field == "endsAt" }) {
            fields.refuse("endsAt", "is missing; an alert that locks the app needs a time at which it vanishes")
        }
        let shown = Shown(.setAlert, in: &fields)
        try fields.finish()
        let alert = AlertRecord(
            app: app, message: message ?? "", isBlocking: isBlocking, endsAt: endsAt, createdAt: now,
            createdBy: caller.actor.name)
        try store.setAlert(alert, by: caller.actor.confirming(shown))
        let record = try store.version(of: app) ?? VersionRecord(app)
        let warnings = versionCache.documentWarnings(for: record, seen: try store.seenVersions(of: app))
        return .json { $0.object((alert: alert, warnings: warnings), AlertRecord.resultShape) }
    }

    func clearAlert(_ app: AppKey, _ query: inout Query, by caller: Caller) throws -> Response {
        try require(app)
        let shown = Shown(.clearAlert, in: &query)
        try query.finish()
        let isCleared = try store.clearAlert(of: app, by: Signature(by: caller.actor.confirming(shown), at: now()))
        guard isCleared else { throw Self.noAlert }
        return .noContent
    }

    private static let noAlert = ProblemDetails(404, "this app has no alert")
}

extension AlertRecord {
    static let shape = Shape<AlertRecord>(
        "Alert", "The alert that every user of an app sees at launch.",
        [
            AppKey.shape.members { $0.app },
            .member(.message, .text) { $0.message },
            .member(.blocking, .flag) { $0.isBlocking },
            .nullable(.endsAt, .instant) { $0.endsAt },
            .member(.createdAt, .instant) { $0.createdAt },
            .member(.createdBy, .text) { $0.createdBy },
        ])

    static let resultShape = Shape<(alert: AlertRecord, warnings: [String])>(
        "AlertResult", "An alert that was set.",
        [
            shape.members { $0.alert },
            .member(.warnings, .list(of: .text), "The effects of the published document on versions still seen.") {
                $0.warnings
            },
            .sentence { ActWords(.setAlert, ActWords.place($0.alert.app)).answer() },
        ])
}
