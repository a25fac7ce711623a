// SPDX-License-Identifier: Apache-2.0
import FanOut
import Foundation
import PushProviders
import RelayEngine
import RelayStore
import Signing
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules

@testable import Configuration
@testable import RelayDaemon

/// While the routes from before a reload finish their pushes in flight, the new ones already exist.
@Suite struct ReloadedRoutesTests {
    private let folder: String
    private let store: any TestStore
    private let tokenSources = TokenSources()
    private let now = Timestamp(seconds: 1_800_000_000)

    init() throws {
        folder = try TestFolder.make()
        store = try openStore("\(folder)/relay.db")
        try write(ES256PrivateKey.generate())
    }

    private func write(_ key: ES256PrivateKey) throws {
        try Data(key.pem).write(to: URL(filePath: "\(folder)/key.p8"))
    }

    /// - Parameter sources: nil: this process's.
    private func provider(of sources: TokenSources? = nil) throws -> any PushProvider {
        let text = """
            { apps: { a: { ios: {
              downloadUrl: "https://example.com", push: { type: "t", alert: "a" },
              apns: { teamId: "TEAM123456", keyId: "KEY1234567", key: { file: "\(folder)/key.p8" } },
            } } } }
            """
        let builder = RouteBuilder(
            store: store, environment: [:], tokenSources: sources ?? tokenSources,
            log: Log(minimum: .error) { _, _, _ in },
            clock: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
        let routes = try builder.routes(for: ConfigurationFile.parse(Array(text.utf8), path: "test"))
        return try #require(routes.first).main.provider
    }

    /// Signs as a batch of pushes does.
    private func sign(_ provider: any PushProvider) throws {
        _ = try provider.template(
            for: UpgradePayload(type: "t", alert: "a", downloadURL: "u"), of: "000000000000", authority: "a",
            expiresAt: now, at: now)
    }

    @Test func `A pause that only the old routes hear of is the new ones' too`() throws {
        let (old, new) = (try provider(), try provider())
        old.pauseCredential(until: now + .seconds(300), by: "push:443", at: now)
        #expect(new.credentialPause(at: "push:443", now: now)?.until == now + .seconds(300))
        #expect(throws: CredentialPending.self) { try sign(new) }
        #expect(tokenSources.signed == 0)
        #expect(old.credential == new.credential)
    }

    @Test func `A token that the old routes sign after the reload is the new ones' too`() throws {
        let (old, new) = (try provider(), try provider())
        try sign(old)
        try sign(new)
        #expect(tokenSources.signed == 1)
    }

    @Test func `A pause is the key id's, whichever file signs in its name`() throws {
        let old = try provider()
        try write(ES256PrivateKey.generate())
        let new = try provider()
        #expect(old.credential != new.credential)
        old.pauseCredential(until: now + .seconds(300), by: "push:443", at: now)
        #expect(new.credentialPause(at: "push:443", now: now)?.until == now + .seconds(300))
        #expect(throws: CredentialPending.self) { try sign(new) }
        // The other way round, as after a mistake that is corrected.
        new.pauseCredential(until: now + .seconds(600), by: "push:443", at: now)
        #expect(old.credentialPause(at: "push:443", now: now)?.until == now + .seconds(600))
    }

    @Test func `Keys that no route uses any more are forgotten; their tokens are in the store`() throws {
        try sign(provider())
        #expect(tokenSources.signed == 1)
        let isKept = try store.pauseProviderToken(
            key: "APNs/TEAM123456/KEY1234567", until: now + .seconds(300), by: nil, at: now)
        #expect(isKept)
        let new = try provider()
        #expect(new.credentialPause(at: "push:443", now: now)?.until == now + .seconds(300), "read from the store")
        try sign(new)
        #expect(tokenSources.signed == 1)
    }

    @Test func `What another relay does with the key is known when the store tells of it`() throws {
        // The other relay has a process, and so sources, of its own.
        let (own, other) = (try provider(), try provider(of: TokenSources()))
        try sign(other)
        tokenSources.refresh(at: now)
        try sign(own)
        #expect(tokenSources.signed == 0)
        other.pauseCredential(until: now + .seconds(300), by: "push:443", at: now)
        #expect(own.credentialPause(at: "push:443", now: now) == nil)
        tokenSources.refresh(at: now)
        #expect(own.credentialPause(at: "push:443", now: now)?.until == now + .seconds(300))
    }

    @Test func `A relay with another file of the key's id has a token of its own`() throws {
        try sign(provider())
        let kept = try store.providerToken(key: "APNs/TEAM123456/KEY1234567")
        try write(ES256PrivateKey.generate())
        for _ in 0..<2 { try sign(provider(of: TokenSources())) }
        #expect(try store.providerToken(key: "APNs/TEAM123456/KEY1234567") == kept)
        #expect(try store.inspect("SELECT count(*) FROM provider_token") == [["2"]])
    }
}
