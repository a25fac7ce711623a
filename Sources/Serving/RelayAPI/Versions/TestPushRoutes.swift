// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayEngine
package import RelayStore
import WireFormat

/// A test push, and the user or the device that it is for.
package struct TestPushRequest: Sendable {
    package enum Target: Sendable {
        case telephone(String)
        /// nil: as the device is registered, or production.
        case token(String, Channel.Environment?)
    }

    package var app: AppKey
    package var target: Target
}

/// A device, which need not be registered, and the result of the push to it.
package typealias TestPushReport = (device: DeviceRegistration, result: TestPushResult)

extension API {
    func testPush(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        let wish = try Self.readWish(body, app)
        if case .telephone = wish.target {
            try caller.need(
                .users, "a test push to a telephone shows whether it is registered; one to a token does not")
        }
        let slot = try foreign.take(
            for: app.app, busy: "test pushes of \(app.app) wait for its push service already", retryAfter: 5)
        defer { withExtendedLifetime(slot) {} }
        // Each is a real push: a token's holder must not be able to ring a phone all day.
        if caller.token != nil { try testPushes.take(for: caller.actor.name, "test pushes") }
        let reports = try testPush(wish, by: caller)
        return .json { writer in
            writer.page(reports, next: nil) { writer, report in
                let (device, result) = report
                writer.object { writer in
                    writer.member(.token, device.token, for: caller.sight)
                    writer.member(.telephone, device.telephone, for: caller.sight)
                    writer.members([
                        .environment: device.environment.name, .server: result.server, .state: result.state.rawValue,
                        .status: result.status.map(Int64.init), .reason: result.reason, .apnsId: result.pushID,
                        .remedy: result.remedy,
                    ])
                }
            }
        }
    }

    private func testPush(_ wish: TestPushRequest, by caller: Caller) throws -> [TestPushReport] {
        do {
            return try control.testPush(wish, by: caller.actor.name)
        } catch let error as ControlError where error.code == .noSuchDevice {
            var problem = ProblemDetails.of(error)
            if case .telephone(let telephone) = wish.target {
                problem.faults = try misspelt(telephone) { $0 == wish.app }
            }
            throw problem
        }
    }

    private static func readWish(_ body: [UInt8], _ app: AppKey) throws -> TestPushRequest {
        var fields = try BodyFields(body)
        let telephone = fields.telephone("telephone")
        var token = fields.string("token", example: "a push token")
        if let text = token {
            switch DeviceFields.normalized(text, platform: app.platform) {
            case .success(let good): token = good
            case .failure(let fault): fields.refuse("token", fault.reason)
            }
        }
        let environment = fields.choice("environment", of: Channel.Environment.allCases, \.name)
        if environment != nil, telephone != nil {
            fields.refuse("environment", "goes with token; a user's devices have their own")
        }
        if fields.faults.isEmpty, (telephone == nil) == (token == nil) {
            fields.refuse("telephone", "one of telephone and token is needed, and not both")
        }
        try fields.finish()
        if let telephone { return TestPushRequest(app: app, target: .telephone(telephone)) }
        return TestPushRequest(app: app, target: .token(token ?? "", environment))
    }
}
