// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules
import WireFormat

@testable import VersionSources

@Suite struct PlatformBodiesTests {
    private func parts(
        _ body: String, usual: [Platform]? = [.ios, .android], isWebhook: Bool = false
    ) throws -> [String] {
        try PlatformBodies(Array(body.utf8), usual: usual, isWebhook: isWebhook).parts.map {
            "\($0.platform.rawValue) \(String(decoding: $0.body, as: UTF8.self))"
        }
    }

    @Test func `What a platform says of itself takes the place of what is for all`() throws {
        #expect(
            try parts(
                #"{"required":"2.0","android":{"builds":{"required":200}},"ios":{"required":"2.0.1","now":true}}"#)
                == [#"ios {"required":"2.0.1","now":true}"#, #"android {"required":"2.0","builds":{"required":200}}"#])
        #expect(try parts(#"{"required":"2.0","platforms":["android"]}"#) == [#"android {"required":"2.0"}"#])
        #expect(try parts(#"{"required":"2.0","ios":null}"#, usual: [.ios]) == [#"ios {"required":"2.0"}"#])
    }

    @Test func `A webhook's parts name their app and platform`() throws {
        let body = #"{"app":"a","platforms":["android","ios"],"required":"2.0","android":{"required":"3.0"}}"#
        #expect(
            try parts(body, usual: nil, isWebhook: true) == [
                #"ios {"app":"a","required":"2.0","platform":"ios"}"#,
                #"android {"app":"a","required":"3.0","platform":"android"}"#,
            ])
        #expect(PlatformBodies.isMeant(by: Array(body.utf8)))
        for other in [
            #"{"app":"a","platform":"ios"}"#, #"{"app":"a","platform":"ios","platforms":["ios"]}"#, "[]", "x",
        ] {
            #expect(!PlatformBodies.isMeant(by: Array(other.utf8)), "\(other)")
        }
    }

    @Test(arguments: [
        (#"{"required":"2.0","platforms":[]}"#, "platforms"),
        (#"{"required":"2.0","platforms":["symbian"]}"#, "platforms"),
        (#"{"required":"2.0","platforms":"ios"}"#, "platforms"),
        (#"{"required":"2.0","platforms":["ios"],"android":{"now":true}}"#, "android"),
        (#"{"required":"2.0","ios":7}"#, "ios"),
        (#"{"required":"2.0","ios":{"app":"b"}}"#, "ios.app"),
        (#"{"required":"2.0","ios":{"platform":"android"}}"#, "ios.platform"),
        ("[]", "body"),
    ])
    func `A fault names its field`(body: String, field: String) throws {
        let error = #expect(throws: BodyError.self) { try parts(body) }
        guard case .fields(let faults)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(faults.map(\.field) == [field])
    }

    @Test func `A webhook lists its platforms`() {
        #expect(throws: BodyError.self) { try parts(#"{"app":"a","required":"2.0"}"#, usual: nil, isWebhook: true) }
    }
}
