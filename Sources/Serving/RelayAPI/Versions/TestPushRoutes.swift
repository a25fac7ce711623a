// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

/// A test push, and the user or the device that it is for.
package struct TestPushRequest: Sendable {
    package enum Target: Sendable {
        case telephone(String)
        /// The environment; nil: as the device is registered, or production.
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
        // Each is a real push: the holder of an API token must not be able to ring a phone all day.
        if caller.token != nil { try testPushes.take(for: caller.actor.name, "test pushes") }
        let reports = try testPush(wish, by: caller)
        return .json { $0.object(reports, TestPushResult.listShape, for: caller.sight) }
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

extension TestPushResult {
    static let shape = Shape<TestPushReport>(
        "TestPushAnswer", "The push service's answers.",
        [
            .personal(.token) { $0.device.token },
            .nullablePersonal(.telephone) { $0.device.telephone },
            .member(.environment, .environment) { $0.device.environment.name },
            .member(.server, .text, "The push service.") { $0.result.server },
            .member(.state, .words(State.self), "failed: the service did not judge the token.") {
                $0.result.state.rawValue
            },
            .nullable(.status, .integer, "The service's HTTP status; null: no answer.") {
                $0.result.status.map { Int64($0) }
            },
            .nullable(.reason, .text, "The service's reason, or why the push did not leave.") { $0.result.reason },
            .member(.apnsId, .text, "The push's id: for iOS its apns-id, for Android its data.pushId.") {
                $0.result.pushID
            },
            .nullable(.remedy, .text, "The remedy.") { $0.result.remedy },
        ])

    static let listShape = Shape<[TestPushReport]>(
        "TestPushAnswers", nil,
        [
            .list(.items, of: shape) { $0 },
            .written(.next, .null) { writer, _ in writer.null() },
        ])
}
