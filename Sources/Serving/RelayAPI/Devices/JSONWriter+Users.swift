// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import UpgradeRules
import WireFormat

/// One user, explained.
extension JSONWriter {
    /// - Parameter wait: why the requested version of an app is not in force yet.
    mutating func explanation(
        _ user: UserExplanation, for sight: Redaction, wait: (UserExplanation.App) -> RequirementWait?
    ) {
        object { writer in
            writer.member(.telephone, user.telephone, for: sight)
            writer.members([.known: user.isKnown, .spelling: user.spelling])
            writer.member(.similar, user.similar, for: sight)
            writer.array(.apps, user.apps) { $0.explanation($1, for: sight, wait: wait($1)) }
        }
    }

    private mutating func explanation(_ app: UserExplanation.App, for sight: Redaction, wait: RequirementWait?) {
        object { writer in
            writer.app(app.app)
            writer.member(.required, app.record?.required?.text)
            writer.member(.inForce, app.record?.inForce.required?.text)
            writer.member(.announced, app.record?.inForce.latest?.text)
            writer.member(.waitingReason, wait?.reason)
            writer.member(.stage, app.stage) { $0.stage($1) }
            writer.array(.devices, app.devices) { writer, device in
                writer.object { writer in
                    let registration = device.record.registration
                    writer.member(.token, registration.token, for: sight)
                    writer.member(.version, registration.version?.text)
                    let source = device.record.versionSource
                    writer.member(.versionFrom, source.isLogin ? "login" : "registration")
                    writer.member(.versionAt, source.at)
                    for field in DeviceField.values where field != .telephone && field != .version {
                        writer.member(field, of: registration, for: sight)
                    }
                    writer.provider(of: registration)
                    writer.member(.registeredAt, device.record.registeredAt)
                    writer.member(.retiredAt, device.record.retiredAt)
                    writer.object(.channels) { writer in
                        writer.word(.push, device.push)
                        writer.word(.login, device.login)
                        writer.word(.enforce, device.enforce)
                        writer.word(.launchDocument, device.launchDocument)
                    }
                    writer.member(.toldAtLogin, device.toldAtLogin.map(\.text))
                }
            }
            writer.array(.pushes, app.pushes) { writer, push in
                writer.object { writer in
                    writer.members([
                        .campaign: push.delivery.campaign, .required: push.target?.required?.text,
                        .blocked: push.target?.blocked?.text,
                    ])
                    writer.member(.token, push.delivery.token, for: sight)
                    writer.members([
                        .state: push.delivery.state.name, .reason: push.delivery.reason,
                        .attempts: push.delivery.attempts, .nextAttemptAt: push.delivery.nextAttemptAt,
                        .updatedAt: push.delivery.updatedAt,
                    ])
                }
            }
        }
    }

    private mutating func stage(_ stage: UserExplanation.Stage) {
        object([
            .required: stage.rule.version.text, .named: stage.isNamed,
            .reach: JSONDecimal(Double(stage.rule.reach) / 100, places: 2),
            .turn: JSONDecimal(Double(stage.turn) / 100, places: 2), .reached: stage.isReached,
        ])
    }

    private mutating func word(_ channel: Field, _ word: UserExplanation.Word) {
        name(channel)
        object([.says: word.says.rawValue, .why: word.why])
    }
}
