// SPDX-License-Identifier: Apache-2.0
import Foundation
import Notifications
import RelayEngine
import RelayStore
import Signing
import Testing
import VersionSources
import WireFormat

@testable import PushProviders

/// Each peer's yes: an answer that is one, and 2xx that mean no.
@Suite struct PeerAnswerTests {
    /// A proxy's page for a sign-in, and a gateway's error in a 200.
    private static let page = "<!DOCTYPE html><html><title>Sign in</title></html>"
    private static let error = #"{"error":{"code":500,"message":"no","status":"INTERNAL"}}"#

    private static func isYes(_ provider: ProviderName, _ text: String) -> Bool {
        let body = Array(text.utf8)
        switch provider {
        case .apns:
            guard !body.isEmpty else { return true }
            if case .accepted = APNsProvider.outcome(ofGood: body) { return true }
            return false
        case .fcm: return FCMReaction.to(status: 200, FCMErrorBody(body)).push == .accepted
        }
    }

    private static func right(_ provider: ProviderName) -> [String] {
        switch provider {
        case .apns: ["", "{}"]
        case .fcm: [#"{"name":"projects/p/messages/1"}"#, "{}"]
        }
    }

    private static func wrong(_ provider: ProviderName) -> [String] {
        let own: [String] =
            switch provider {
            case .apns: [#"{"reason":"BadDeviceToken"}"#, "down"]
            case .fcm: [error, #"{"name":"x"}"#, "ok"]
            }
        return own + [page]
    }

    private static func isYes(_ peer: PeerAnswer, _ text: String) -> Bool {
        let body = Array(text.utf8)
        switch peer {
        case .googleToken:
            let answer = GoogleTokenAnswer(status: 200, body: body, scope: GoogleAccount.Scope.firebaseMessaging)
            if case .granted = answer { return true }
            return false
        case .appStore:
            let source = AppStoreSource(trackID: 7, bundleID: nil)
            return (try? AppStoreAnswer.read(body, of: source, by: .trackID(7))) != nil
        case .appStoreConnect:
            let source = AppStoreConnectSource(appID: 1, key: AppStoreConnectKey(issuerID: nil, keyID: "2X9R4HXF34"))
            return (try? AppStoreConnectAnswer.page(body, of: source)) != nil
        case .googlePlay: return (try? GooglePlayAnswer.releases(body, track: "production")) != nil
        case .launchGate: return (try? LaunchGateReading(body)) != nil
        case .receiver: return ReceiverAnswer.refusal(200, body, .json) == nil
        case .chat: return ReceiverAnswer.refusal(200, body, .slack) == nil
        }
    }

    private static func right(_ peer: PeerAnswer) -> [String] {
        switch peer {
        case .googleToken: [#"{"access_token":"a","expires_in":3599,"token_type":"Bearer"}"#]
        case .appStore: [#"{"resultCount":1,"results":[{"trackId":7,"kind":"software","version":"2.0"}]}"#]
        case .appStoreConnect:
            [
                #"{"data":[],"links":{"self":"https://api.appstoreconnect.apple.com/v1/apps/1/appStoreVersions?limit=200"}}"#
            ]
        case .googlePlay: ["", "{}", #"{"releases":[]}"#]
        case .launchGate: [#"{"ios":{}}"#]
        case .receiver: ["", "thanks", "{}"]
        case .chat: ["", "ok", #"{"ok":true}"#]
        }
    }

    private static func wrong(_ peer: PeerAnswer) -> [String] {
        let own: [String] =
            switch peer {
            case .googleToken: [error, "{}", #"{"access_token":"","expires_in":1}"#]
            case .appStore: [error, "{}", #"{"results":[{"trackId":8,"version":"2.0"}]}"#]
            case .appStoreConnect: [error, "{}", #"{"data":[]}"#]
            case .googlePlay: [#"{"releases":7}"#, "ok"]
            case .launchGate: [error, "{}", "ok"]
            case .receiver: [#"{"ok":false}"#, #"{"errcode":40008}"#]
            case .chat: [#"{"ok":false}"#, "invalid_payload", "no_service"]
            }
        return own + [page]
    }

    @Test(arguments: ProviderName.allCases)
    func `A push service's 2xx is a yes only where it says so`(provider: ProviderName) {
        for body in Self.right(provider) { #expect(Self.isYes(provider, body), "\(provider): \(body)") }
        for body in Self.wrong(provider) { #expect(!Self.isYes(provider, body), "\(provider): \(body)") }
    }

    @Test(arguments: PeerAnswer.allCases)
    func `A 2xx is a yes only where it says so`(peer: PeerAnswer) {
        for body in Self.right(peer) { #expect(Self.isYes(peer, body), "\(peer): \(body)") }
        for body in Self.wrong(peer) { #expect(!Self.isYes(peer, body), "\(peer): \(body)") }
    }

    @Test func `The guide has a row for each peer`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "etc/TROUBLESHOOTING.md"), encoding: .utf8)
        let part = text.split(separator: "## Which answers are a yes").last ?? ""
        let rows = part.split(separator: "\n").drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("|") }
        let right =
            ProviderName.allCases.map { "| \($0.text) | \($0.kind.yes) |" }
            + PeerAnswer.allCases.map { "| \($0.rawValue) | \($0.yes) |" }
        #expect(rows.map(String.init) == right, "\(right.joined(separator: "\n"))")
    }
}
