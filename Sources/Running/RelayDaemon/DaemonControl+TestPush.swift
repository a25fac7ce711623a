// SPDX-License-Identifier: Apache-2.0
import Configuration
import FanOut
import RelayAPI
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

/// Test pushes, the first use of real keys.
extension DaemonControl {
    /// The most devices of a user that get a test push; more would prove nothing further.
    private static let mostDevices = 5

    func testPush(_ wish: TestPushRequest, by actor: String) throws -> [TestPushReport] {
        let app = try control.configured(wish.app)
        let route = try control.route(of: wish.app)
        // Sends what a campaign of the present requirement would send.
        let record = try store.version(of: wish.app)
        guard let url = record?.texts?.downloadURL ?? app.downloadURL else {
            throw ControlError(
                .noDownloadURL, context: "a push needs a downloadUrl: the app ignores one without it",
                hint: "set it in the app's configuration")
        }
        return try targets(of: wish).map { target in
            let push = TestPush(
                route: route, token: target.token, telephone: target.telephone ?? "",
                channel: target.channel, message: record?.words(route.moments)?.text, downloadURL: url)
            let result = push.send(clock: clock)
            log(
                .notice, "a test push was sent",
                [
                    ("app", wish.app.app), ("platform", wish.app.platform.rawValue),
                    ("token", Masked.token(target.token)), ("result", result.state.rawValue),
                    ("status", result.status.map(String.init) ?? "none"), ("reason", result.reason ?? "none"),
                    ("apnsId", result.pushID), ("by", actor),
                ])
            return (target, result)
        }
    }

    private func targets(of wish: TestPushRequest) throws -> [DeviceRegistration] {
        switch wish.target {
        case .token(let token, let environment):
            var device =
                try store.device(wish.app, token: token)?.registration
                ?? DeviceRegistration(app: wish.app, token: token, telephone: nil, version: nil)
            if let environment { device.environment = environment }
            return [device]
        case .telephone(let telephone):
            let devices = try store.devices(of: wish.app, telephone: telephone, limit: Self.mostDevices)
            guard !devices.isEmpty else {
                throw ControlError(
                    .noSuchDevice,
                    context: "no device of \(wish.app.app) (\(wish.app.platform.rawValue)) is registered for this user",
                    hint: "the phone number must be spelt as the app sends it; a token can be tried without one")
            }
            return devices.map(\.registration)
        }
    }
}
