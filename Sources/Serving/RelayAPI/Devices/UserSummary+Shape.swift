// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

extension UserSummary {
    static let shape = Shape<(summary: UserSummary, now: Timestamp)>(
        "UserSummary",
        "The state of one user in one app and platform. Of several devices it shows the one to talk about: one that gets pushes, then the most urgent state, then the last registered.",
        [
            AppKey.shape.members { $0.summary.app },
            .member(
                .sentence, .text,
                "The state in one sentence of English, for people. Times are in UTC; those of the present day are without date."
            ) { $0.summary.sentence(at: $0.now) },
            .member(
                .state, .words(State.self),
                "lockedOut: the device must upgrade, or is refused. unknownVersion: the login check decides by the version that the app sends. willBeAsked: the device may go on until a requirement is in force for its user. mayGoOn. noDevice: no device of the user is registered now. notConfigured: the app is not configured on this server."
            ) { $0.summary.state.rawValue },
            .nullable(
                .since, .instant,
                "The moment since when the version is required of this user, or blocked; null: it is not, or the moment is not recorded."
            ) { $0.summary.since },
            .nullable(
                .from, .instant,
                "The moment from which the version will be required by time alone; null: it is required, or the moment is not known."
            ) { $0.summary.from },
            .nullable(.required, .version, "The version that is required, or will be; null: none is.") {
                $0.summary.demand == .announced ? nil : $0.summary.target?.required?.text
            },
            .nullable(.blocked, .version, "The version that must be left, or will have to be; null: none.") {
                $0.summary.target?.blocked?.text
            },
            .nullable(.announced, .version, "The version that is announced, if none is required; null: none is.") {
                $0.summary.demand == .announced ? $0.summary.target?.version.text : nil
            },
            .nullable(.has, .version, "The device's version; null: not known.") { $0.summary.has?.text },
            .member(.devices, .count, "The user's devices of this app and platform.") { $0.summary.devices },
            .member(.devicesAlike, .count, "Those in this state.") { $0.summary.devicesAlike },
            .nullableObject(
                .push, UserExplanation.Push.shape,
                "The device's push of the newest campaign, with its outcome and time; null: there is none."
            ) { $0.summary.push },
            .nullable(
                .canGet, .words(StoreOffer.Answer.self),
                "Whether the user can get the version. yes: the store offers it to this user. notYet: to no user, or not where this one is, or its rollout is halted. no: it does not run on the phone. unknown: the store's answers do not settle it, or no store is asked. null: the device needs no other version."
            ) { $0.summary.offer?.answer.rawValue },
            .nullable(.canGetWhy, .text, "The evidence for `canGet`.") { $0.summary.offer?.why },
            .nullable(.canGetAskedAt, .instant, "When the store gave this answer; null: no store did.") {
                $0.summary.offer?.askedAt
            },
        ])
}
