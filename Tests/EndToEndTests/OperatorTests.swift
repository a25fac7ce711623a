// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Signing
import Testing

/// The operator's changes and mistakes: reloads, typing errors, missing files.
@Suite(.serialized, .ownThread) struct OperatorTests {
    @Test func sighupTakesTheRepairedKeyAndTheCampaignGoesOn() throws {
        let bench = try Workbench(relayKey: try ES256PrivateKey.generate())
        try bench.start()
        try bench.register(Fleet(count: 1_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.state == "suspended" && $0.counts["inFlight"] == 0 }
        try bench.write(bench.key)
        let relay = try #require(bench.relay)
        relay.send(SIGHUP)
        #expect(relay.waitForLine(" reloaded", within: .seconds(60)) != nil)
        #expect(try bench.api("POST", "/v1/campaigns/\(id)/resume").status == 200)
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 1_000)
    }

    @Test func aReloadInMidCampaignLosesNothing() throws {
        let bench = try Workbench { $0.latency = .milliseconds(50) }
        try bench.start()
        let fleet = Fleet(count: 10_000)
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try #require(bench.simulator.wait(forRequests: 3_000, deadline: .seconds(60)))
        let relay = try #require(bench.relay)
        relay.send(SIGHUP)
        #expect(relay.waitForLine(" reloaded", within: .seconds(60)) != nil)
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 10_000)
        #expect(bench.simulator.figures.duplicates == 0)
    }

    @Test func aConfigurationThatDoesNotValidateChangesNothing() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 10))
        try Data("{ apps: { x: 1 } }".utf8).write(to: bench.folder.appending(path: "config.json5"))
        let relay = try #require(bench.relay)
        relay.send(SIGHUP)
        let line = try #require(relay.waitForLine(" not reloaded", within: .seconds(60)))
        #expect(line.contains(#"apps[\"x\"]"#))
        let end = try bench.follow(try bench.campaign(of: bench.bump("2.0.0"))) { $0.isFinal }
        #expect(end.counts["accepted"] == 10)
    }

    @Test func aDirectoryOfItsOwnIsMadeForItsOwnerAlone() throws {
        let bench = try Workbench()
        let own = bench.folder.appending(path: "upgrade-relay")
        try bench.keepStore(in: own)
        let check = try CommandResult.of(["check-config", bench.path("config.json5")])
        #expect(check.status == 0, "\(check.errors)")
        #expect(!FileManager.default.fileExists(atPath: own.path), "a check makes nothing")
        try bench.start()
        let mode = try FileManager.default.attributesOfItem(atPath: own.path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func aPathThatIsMistypedIsNotMade() throws {
        let bench = try Workbench()
        let typo = bench.folder.appending(path: "vra/upgrade-relay")
        try bench.keepStore(in: typo)
        let check = try CommandResult.of(["check-config", bench.path("config.json5")])
        #expect(check.status == 78)
        #expect(check.errors.contains("store.sqlite.path: the directory \(typo.path) does not exist"))
        let serve = try CommandResult.of(["serve", "--config", bench.path("config.json5")])
        #expect(serve.status == 1)
        #expect(serve.errors.contains("the directory \(typo.path) cannot be made: No such file or directory"))
        #expect(serve.errors.contains("hint: make the directories above it first"))
    }

    @Test(.timeLimit(.minutes(60))) func aDaemonGoesWithTheProgramThatStartedIt() throws {
        let bench = try Workbench()
        // Its input is empty, so it stops in order as soon as it runs.
        let result = try CommandResult.of(["serve", "--config", bench.path("config.json5"), "--stop-at-eof"])
        #expect(result.status == 0)
        #expect(result.errors.contains(" ready "))
        #expect(result.errors.contains(" stopped"))
    }

    @Test func everyFileThatCannotBeUsedIsToldByItsField() throws {
        let bench = try Workbench()
        try Data("hello".utf8).write(to: bench.folder.appending(path: "key.p8"))
        try FileManager.default.removeItem(atPath: bench.path("push-simulator-ca.pem"))
        let serve = try CommandResult.of(["serve", "--config", bench.path("config.json5")])
        #expect(serve.status == 78)
        let field = "apps[\"\(Workbench.app)\"].ios.apns"
        #expect(serve.errors.contains("\(field).key: file \(bench.path("key.p8")): no private key found"))
        #expect(serve.errors.contains("\(field).trustedCertificates: the file "))
        let check = try CommandResult.of(["check-config", bench.path("config.json5")])
        #expect(check.errors == serve.errors)
    }
}
