// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

extension UserExplanation {
    /// An app of a user, and why its requested version is not in force yet.
    typealias WaitingApp = (app: App, wait: RequirementWait?)

    static let shape = Shape<(user: UserExplanation, apps: [WaitingApp], now: Timestamp)>(
        "User", "One user, explained.",
        [
            .list(
                .summary, of: UserSummary.shape,
                "The state of the user in each app and platform, in one object and one sentence. Empty if the user is unknown."
            ) { answer in answer.user.summaries.map { (summary: $0, now: answer.now) } },
            .personal(.telephone, "The telephone as it was asked for.") { $0.user.telephone },
            .member(.known, .flag, "Whether a device, a push or a canary has this telephone.") { $0.user.isKnown },
            .member(
                .spelling, .text,
                "The spelling that was looked for: nothing is trimmed or normalised, as in the apps."
            ) { $0.user.spelling },
            .personalList(.similar, "If the user is unknown: other spellings of the number that are known.") {
                $0.user.similar
            },
            .list(.apps, of: App.shape) { $0.apps },
        ])
}

extension UserExplanation.App {
    static let shape = Shape<UserExplanation.WaitingApp>(
        "UserApp", "One user in one app.",
        [
            AppKey.shape.members { $0.app.app },
            .nullable(.required, .version, "The highest requested version.") { $0.app.record?.required?.text },
            .nullable(.inForce, .version, "The version that everybody must have.") {
                $0.app.record?.inForce.required?.text
            },
            .nullable(.announced, .version, "The newest version that everybody is notified of.") {
                $0.app.record?.inForce.latest?.text
            },
            .nullable(.waitingReason, .text, "The reason why `required` is not in force yet.") { $0.wait?.reason },
            .nullableObject(
                .stage, UserExplanation.Stage.shape,
                "The user's place in a requirement that is in force for some users alone; null: there is none."
            ) { $0.app.stage },
            .list(.devices, of: UserExplanation.Device.shape) { $0.app.devices },
            .list(
                .pushes, of: UserExplanation.Push.shape,
                "The outcome of each push, the newest campaign first; of a user's last 200 over all apps."
            ) { $0.app.pushes },
        ])
}

extension UserExplanation.Stage {
    static let shape = Shape<UserExplanation.Stage>(
        "UserStage", "A user's place in a requirement that is in force for some users alone.",
        [
            .member(.required, .version) { $0.rule.version.text },
            .member(.named, .flag, "Whether its canary names the user.") { $0.isNamed },
            .member(
                .reach, .number.within(0...100), "Percent of the users for whom it is in force beside its canary."
            ) { JSONDecimal(of: Double($0.rule.reach) / 100, places: 2) },
            .member(.turn, .number.within(0...100), "The reach at which it includes this user.") {
                JSONDecimal(of: Double($0.turn) / 100, places: 2)
            },
            .member(.reached, .flag, "Whether it is in force for this user.") { $0.isReached },
        ])
}

extension UserExplanation.Device {
    static let shape = Shape<UserExplanation.Device>(
        "UserDevice", "A device of one user, and the present answer of each channel.",
        [
            .personal(.token) { $0.record.registration.token },
            .nullable(.version, .version, "The version in the registry.") { $0.record.registration.version?.text },
            .member(
                .versionFrom, .words(["login", "registration"]),
                "The last source of it: the device at login, or a registration, its own or an import's."
            ) { $0.record.versionSource.isLogin ? "login" : "registration" },
            .member(.versionAt, .instant, "The time.") { $0.record.versionSource.at },
            details.members { $0.record.registration },
            .member(.registeredAt, .instant, "When the device last registered.") { $0.record.registeredAt },
            .nullable(.retiredAt, .instant, "When the push service declared the token dead.") { $0.record.retiredAt },
            .object(.channels, channels, "The answer of each channel.") { $0 },
            .member(
                .toldAtLogin, .list(of: .version),
                "The requirements that it was notified of at login, oldest first."
            ) { $0.toldAtLogin.map(\.text) },
        ])

    /// The other fields of the registry, without the user's telephone.
    private static let details = Shape<DeviceRegistration>([
        .all(DeviceField.values.filter { $0 != .telephone && $0 != .version }.map(\.member)),
        DeviceRegistration.provider.members { $0 },
    ])

    private static let channels = Shape<UserExplanation.Device>([
        .object(.push, UserExplanation.Word.shape) { $0.push },
        .object(.login, UserExplanation.Word.shape, "If the app sends telephone and push token.") { $0.login },
        .object(.enforce, UserExplanation.Word.shape) { $0.enforce },
        .object(.launchDocument, UserExplanation.Word.shape) { $0.launchDocument },
    ])
}

extension UserExplanation.Word {
    static let shape = Shape<UserExplanation.Word>(
        "ChannelWord", "The answer of one channel, and its reason.",
        [
            .member(
                .says, .words(Says.self),
                "For a push: pushed, due, notPushed. For the login check and the launch document: mustUpgrade, mayUpgrade, alert, nothing. For a proxy: denied, passes, unknown."
            ) { $0.says.rawValue },
            .member(.why, .text, "A sentence for people.") { $0.why },
        ])
}

extension UserExplanation.Push {
    static let shape = Shape<UserExplanation.Push>(
        "UserPush", "The outcome of one push to a user.",
        [
            .member(.campaign, .text, "The campaign's id.") { $0.delivery.campaign },
            .nullable(.required, .version, "The version that it announced; null: it announced a block.") {
                $0.target?.required?.text
            },
            .nullable(.blocked, .version, UpgradeTarget.blockedNote) { $0.target?.blocked?.text },
            .personal(.token) { $0.delivery.token },
            .member(.state, DeliveryState.schema) { $0.delivery.state.name },
            .nullable(.reason, .text, "The push service's reason, or why it was filtered.") { $0.delivery.reason },
            .member(.attempts, .count) { $0.delivery.attempts },
            .nullable(.nextAttemptAt, .instant, "If it is retrying.") { $0.delivery.nextAttemptAt },
            .member(.updatedAt, .instant) { $0.delivery.updatedAt },
        ])
}
