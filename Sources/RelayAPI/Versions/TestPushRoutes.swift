// SPDX-License-Identifier: Apache-2.0
import APIModel
import HTTPServer
package import RelayStore
import WireFormat

/// Whom a test push is for.
package struct TestPushWish: Sendable {
    package enum Target: Sendable {
        case telephone(String)
        /// nil: as the device is registered, or production.
        case token(String, PushEnvironment?)
    }

    package var app: AppKey
    package var target: Target
}

/// What came of one test push.
package struct TestPushReport: Sendable {
    package var token: String
    /// Whom it was for; nil where nobody is logged in, or the token is not registered.
    package var telephone: String?
    package var environment: PushEnvironment
    package var server: String
    /// accepted, rejected, unregistered or failed.
    package var state: String
    /// The push service's HTTP status; nil where it did not answer.
    package var status: Int?
    package var reason: String?
    package var pushID: String
    package var remedy: String?

    package init(
        token: String, telephone: String?, environment: PushEnvironment, server: String, state: String, status: Int?,
        reason: String?, pushID: String, remedy: String?
    ) {
        self.token = token
        self.telephone = telephone
        self.environment = environment
        self.server = server
        self.state = state
        self.status = status
        self.reason = reason
        self.pushID = pushID
        self.remedy = remedy
    }
}

extension API {
    func testPush(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        let wish = try Self.readWish(body, app)
        if case .telephone = wish.target, !caller.may(.devices) {
            throw ProblemDetails(
                403,
                "a test push to a telephone tells who is registered: it needs the scope \"devices\", which the token "
                    + "\"\(caller.actor)\" lacks; a push to a token does not")
        }
        let slot = try foreign.take(
            for: app.app, busy: "test pushes of \(app.app) wait for its push service already", retryAfter: 5)
        defer { withExtendedLifetime(slot) {} }
        // Each is a real push: whoever has a token must not be able to ring somebody's phone all day.
        if caller.token != nil { try testPushes.take(for: caller.actor, "test pushes") }
        let reports = try control.testPush(wish, by: caller.actor)
        return .json { writer in
            writer.page(reports, next: nil) { writer, report in
                writer.object([
                    .token: report.token, .telephone: report.telephone, .environment: report.environment.name,
                    .server: report.server, .state: report.state, .status: report.status.map(Int64.init),
                    .reason: report.reason, .apnsId: report.pushID, .remedy: report.remedy,
                ])
            }
        }
    }

    private static func readWish(_ body: [UInt8], _ app: AppKey) throws -> TestPushWish {
        var fields = try BodyFields(body)
        let telephone = fields.telephone("telephone")
        var token = fields.string("token", example: "a push token")
        if let text = token {
            switch DeviceFields.normalized(text, platform: app.platform) {
            case .success(let good): token = good
            case .failure(let fault): fields.refuse("token", fault.reason)
            }
        }
        let environment = fields.choice("environment", of: PushEnvironment.allCases, \.name)
        if environment != nil, telephone != nil {
            fields.refuse("environment", "goes with token; a user's devices have their own")
        }
        if fields.faults.isEmpty, (telephone == nil) == (token == nil) {
            fields.refuse("telephone", "one of telephone and token is needed, and not both")
        }
        try fields.finish()
        if let telephone { return TestPushWish(app: app, target: .telephone(telephone)) }
        return TestPushWish(app: app, target: .token(token ?? "", environment))
    }
}
