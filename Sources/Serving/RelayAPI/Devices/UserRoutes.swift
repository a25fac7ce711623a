// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
package import Requirements
import Telemetry
import UpgradeRules
import WireFormat

/// The devices of one user in all apps, and the erasure of a user.
extension API {
    func devices(_ query: inout Query, _ caller: Caller) throws -> Response {
        let limit = query.limit(default: 100)
        let cursor = query.cursor(.devices)
        let telephone = query.filledText("telephone")
        let token = query.filledText("token")
        if (telephone == nil) == (token == nil) {
            query.refuse("telephone", "exactly one of telephone and token is needed")
        }
        let places = AppFilter(&query, caller)
        try query.finish()
        let page = try Page(
            limit: limit, after: cursor, position: \.id, cursor: { Cursor.text(.devices, $0) },
            isVisible: { places.takes($0.registration.app) }
        ) { try store.devices(telephone: telephone, token: token, after: $0 ?? 0, limit: $1) }
        let similar =
            try page.items.isEmpty ? telephone.map { try userSearch.similar(to: $0, where: places.takes) } : nil
        return .json {
            $0.page(page.items, next: page.next, similar: similar, for: caller.sight) {
                $0.object($1, DeviceRecord.shape, for: caller.sight)
            }
        }
    }

    package var userExplainer: UserExplainer {
        UserExplainer(
            store: store, versionCache: versionCache, unknownVersions: settings.enforce().unknown,
            requirements: control.requirements)
    }

    /// An unknown user is no error: the answer reports it, with how the telephone was looked up.
    func explainUser(_ query: inout Query, _ caller: Caller) throws -> Response {
        let (telephone, places) = try user("the user to look up", &query, caller)
        let explanation = try userExplainer.explain(telephone) { places.takes($0) }
        let apps = explanation.apps.map { (app: $0, wait: $0.record.flatMap(control.requirements.wait)) }
        let answer = (user: explanation, apps: apps, now: now())
        return .json { $0.object(answer, UserExplanation.shape, for: caller.sight) }
    }

    /// The facts that a person is shown before a user is erased, from all apps that the caller may see.
    package func shown(ofUser telephone: String, _ caller: Caller) throws -> Shown {
        try shown(.user(telephone, apps: try store.census().devices.keys.filter { caller.maySee($0) }))
    }

    /// The log names the caller, and masks the telephone of the user.
    package func eraseUser(_ query: inout Query, _ caller: Caller) throws -> Response {
        let shown = Shown(.eraseUser, in: &query)
        let (telephone, places) = try user("the user to forget", &query, caller)
        let erasure = try control.requirements.eraseUser(telephone, by: caller.actor.confirming(shown)) {
            places.takes($0)
        }
        guard erasure != UserErasure() else {
            var problem = ProblemDetails(
                404, "nothing is known of this phone number: it must be spelt as the app sends it")
            // A caller that may erase may read: `Scope.covers`.
            problem.faults = try misspelt(telephone, where: places.takes)
            throw problem
        }
        settings.log(
            .notice, "a user was erased",
            [
                ("telephone", Masked.telephone(telephone)), ("devices", String(erasure.devices)),
                ("deliveries", String(erasure.deliveries)), ("by", caller.actor.name), ("source", caller.actor.via),
            ])
        return .json { $0.object(erasure, UserErasure.shape) }
    }

    private func user(_ whom: String, _ query: inout Query, _ caller: Caller) throws -> (String, AppFilter) {
        let telephone = query.filledText("telephone")
        if telephone == nil { query.refuse("telephone", "is missing: it names \(whom)") }
        let places = AppFilter(&query, caller)
        try query.finish()
        return (telephone ?? "", places)
    }
}

/// The apps that a request is about, among those that its caller may see.
struct AppFilter: Sendable {
    static let parameters = ["app", "platform"]

    private let app: String?
    private let platform: Platform?
    private let caller: Caller

    init(_ query: inout Query, _ caller: Caller) {
        self.caller = caller
        app = query.filledText("app")
        platform = query.choice("platform", of: Platform.allCases, \.rawValue)
    }

    func takes(_ key: AppKey) -> Bool {
        caller.maySee(key) && (app ?? key.app) == key.app && (platform ?? key.platform) == key.platform
    }
}

extension UserErasure {
    static let shape = Shape<UserErasure>(
        "Erasure", "The data of an erased user.",
        [
            .member(.devices, .count, "Devices that were removed.") { $0.devices },
            .member(.deliveries, .count, "Deliveries that named the user. They stay, without the telephone.") {
                $0.deliveries
            },
            .sentence { erasure in
                ActWords(.eraseUser, "the user", devices: erasure.devices)
                    .answer("forgotten; the phone number is out of \(ActWords.deliveries(erasure.deliveries))")
            },
        ])
}
