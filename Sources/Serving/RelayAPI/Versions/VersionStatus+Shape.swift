// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

extension Requirement {
    static let canaryNote =
        "The canary: the users who get it first; null: everybody at once. Masked, such as 138…54, if the caller has not the scope users; in answers to webhooks, and in what receivers are sent, each is \"…\"."
}

extension LocalizedText {
    /// The translations; null where there are none.
    static func messages<Object>(
        of text: @escaping @Sendable (Object) -> LocalizedText?
    ) -> ShapeMember<Object> {
        .written(.messages, Schema.map(of: .text).orNull, "The message by language; null if it is one text.") {
            let translations = text($1)?.translations ?? []
            guard !translations.isEmpty else { return $0.null() }
            $0.object { writer in
                for translation in translations { writer.member(translation.language.text, translation.text) }
            }
        }
    }
}

extension RequirementField {
    /// Null where there is no requirement.
    fileprivate var member: ShapeMember<RequirementTerms?> {
        ShapeMember(property: .init(name.description, schema.described(note))) { writer, terms, _ in
            writer.member(name.description, terms?[self]?.text)
        }
    }
}

extension VersionRecord {
    /// The requested versions, now and in the history. Nil where nothing was ever stored for the app: every member is null.
    fileprivate static let asked = Shape<VersionRecord?>([
        .nullable(.latest, .version) { $0?.requirements.latest?.version.text },
        .nullable(.required, .version) { $0?.requirements.required?.version.text },
        .nullable(.downloadUrl, .text) { $0?.texts?.downloadURL },
        .nullable(.message, .text, "For users who speak none of the languages in messages, and in pushes.") {
            $0?.texts?.message?.text
        },
        LocalizedText.messages { $0?.texts?.message },
        .nullablePersonalList(.telephones, Requirement.canaryNote) { $0?.requirements.required?.canary },
        .object(.builds, builds) { $0 },
        Shape<RequirementTerms?>(RequirementField.allCases.map(\.member))
            .members { $0?.requirements.required?.terms },
        .member(.blocked, .list(of: .version), "The blocked versions, in force or not, the highest first.") {
            ($0?.requirements.blocked ?? []).map(\.text)
        },
    ])

    static let builds = Shape<VersionRecord?>(
        "BuildNumbers", "Android's version codes beside the versions.",
        [
            .nullable(.latest, .versionCode) { $0?.requirements.latest?.build },
            .nullable(.required, .versionCode) { $0?.requirements.required?.build },
        ])
}

extension Schema {
    /// developer.android.com/studio/publish/versioning: positive, and an Int32.
    static let versionCode = Schema.integer.within(1...2_147_483_647)
}

extension InForce {
    fileprivate static let shape = Shape<InForce?>([
        .nullable(
            .inForce, .version,
            InForce.requiredNote
        ) { $0?.required?.text },
        .nullable(.inForceSince, .instant, "The moment since when it is in force.") { $0?.floor?.inForceAt },
        .nullable(
            .inForceBy, .text,
            InForce.byNote
        ) { $0?.floor?.inForceBy },
        .nullable(.inForceReason, .text, InForce.reasonNote) { $0?.floor?.reason },
        .nullable(
            .announced, .version,
            "The newest version that users are notified of: `latest`, or an older one until the store offers it."
        ) { $0?.latest?.text },
    ])
}

/// An app's versions; without a status where nothing was ever stored for the app.
struct ShownVersion {
    let app: AppKey
    let status: VersionStatus?

    init(_ status: VersionStatus) { self.init(app: status.record.app, status: status) }

    init(app: AppKey, status: VersionStatus?) { (self.app, self.status) = (app, status) }

    static let shape = Shape<ShownVersion>(
        "Version", "An app's versions as they are stored.",
        [
            AppKey.shape.members { $0.app },
            VersionRecord.asked.members { $0.status?.record },
            .nullable(.updatedAt, .instant) { $0.status?.record.updatedAt },
            InForce.shape.members { $0.status?.record.inForce },
            .nullable(
                .waitingReason, .text, "The reason why the requested version is not in force yet; null if none waits."
            ) { $0.status?.wait?.reason },
            .nullable(
                .waitingUntil, .instant, "The time at which it comes into force by time alone; null: not known."
            ) { $0.status?.wait?.end },
            .list(.blocks, of: BlockStatus.shape, "The states of the blocked versions.") { $0.status?.blocks ?? [] },
        ])

    /// The answer to a release.
    static let releasedShape = Shape<(version: ShownVersion, sentence: String)>(
        "ReleasedVersion", "An app's versions after a release.",
        [shape.members { $0.version }, .sentence { $0.sentence }])
}

/// An app's versions with their history, and the facts that a person is shown before an act.
struct VersionHistory {
    let version: ShownVersion
    let shown: Shown
    let releasable: Shown?
    let warnings: [String]
    let approvals: [ShownApproval]
    let changes: [VersionChange]
    let inForceChanges: [InForceChange]

    static let shape = Shape<VersionHistory>(
        "VersionHistory", "An app's versions and their history.",
        [
            ShownVersion.shape.members { $0.version },
            .object(.shown, Shown.shape) { $0.shown },
            .nullableObject(
                .releasable, Shown.shape, "The requirement that a release would let through; null: nothing waits."
            ) { $0.releasable },
            .member(.warnings, .list(of: .text), "Warnings about the requirement, for a person.") { $0.warnings },
            .list(.approvals, of: ShownApproval.shape, "The acts that wait for a second person.") { $0.approvals },
            .list(.history, of: VersionChange.shape, "Newest first.") { $0.changes },
            .list(.inForceHistory, of: InForceChange.shape, "The versions that were in force, newest first.") {
                $0.inForceChanges
            },
        ])
}

extension BlockStatus {
    static let shape = Shape<BlockStatus>(
        "Block", "One version that must be left.",
        [
            .member(.version, .version) { $0.requirement.version.text },
            .member(
                .state, .words(["waiting", "inForce", "superseded"]),
                "waiting: no user has to leave it yet. superseded: a floor above it is in force for everybody, and covers it."
            ) { $0.state },
            .nullable(.inForceSince, .instant, "The moment since when it must be left; null: not yet.") {
                $0.requirement.state == .inForce ? $0.requirement.inForceAt : nil
            },
            .nullable(.waitingReason, .text, "The reason why no user has to leave it yet.") { $0.wait?.reason },
            .nullable(.waitingUntil, .instant, "The end of the wait, if time alone ends it.") { $0.wait?.end },
            .nullable(
                .minimumOs, .version,
                "The oldest system that runs an announced version above it; null: any, or not known. Devices with an older one are neither pushed to nor forced."
            ) { $0.requirement.minimumOS?.text },
            .nullable(
                .downloadUrl, .text, "The place where users get another version; null: as in the configuration."
            ) { $0.requirement.downloadURL },
            .nullable(.message, .text, "The text of the push; null: as in the configuration.") {
                $0.requirement.message?.text
            },
            LocalizedText.messages { $0.requirement.message },
        ])
}

extension VersionChange {
    static let shape = Shape<VersionChange>(
        "VersionChange", "The versions after one change.",
        [
            VersionRecord.asked.members { $0.record },
            .nullable(.updatedAt, .instant) { $0.record.updatedAt },
            .member(.actor, .text, "A token's name, a user of the control socket, the name of a webhook's secret.") {
                $0.actor
            },
            .member(
                .source, .text,
                "The way of the change: \"api\", \"cli\", \"webhook\", \"github\", \"gitlab\", \"app-store-connect\", a source's name, \"database\"."
            ) { $0.source },
        ])
}

extension InForceChange {
    static let shape = Shape<InForceChange>(
        "InForceChange", "The versions in force after one change.",
        [
            InForce.shape.members { $0.inForce },
            .nullable(.updatedAt, .instant, "The time of the change.") { $0.at },
            .member(.actor, .text, "A store's name, \"noGate\", or a person.") { $0.actor },
            .member(
                .source, .text, InForceChange.sourceNote
            ) { $0.source },
        ])
}
