// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Terminal
import Testing
import UpgradeRules
import WireFormat

@testable import ClientCommands
@testable import RelayAPI
@testable import RelayDaemon

/// Two persons, by the commands and the API of a real relay.
/// Root names the person who acts.
@Suite(.ownThread, .enabled(if: geteuid() == 0)) struct ApprovalCommandTests {
    private static let app = RealDaemon.app
    private static let rule = #"approval: { people: 2, above: "10%" },"#

    private func required(_ daemon: RealDaemon) throws -> String? {
        try daemon.record(of: AppKey(app: Self.app, platform: .ios))?.required?.text
    }

    @Test("a rise waits for a second person, who approves it by name")
    func rise() async throws {
        let daemon = try RealDaemon(more: Self.rule)
        _ = try await daemon.register()
        let asked = await daemon.run("version set \(Self.app) ios --required 2.0.0 --yes --as ada")
        #expect(asked.code == .done, "\(asked.err)")
        #expect(asked.out.contains("nothing has changed: it waits for a second person"), "\(asked.out)")
        #expect(asked.out.contains("require 2.0.0, which reaches 1 of 3 devices"), "\(asked.out)")
        #expect(try required(daemon) == nil)
        let own = await daemon.run("approvals approve 1 --yes --as ada")
        #expect(own.code == .failed)
        #expect(own.err.contains("a second person has to approve it"), "\(own.err)")
        let shown = await daemon.run("version show \(Self.app) ios")
        #expect(shown.out.contains("require 2.0.0"), "\(shown.out)")
        let list = await daemon.run("approvals list --state open")
        #expect(list.out.contains("require 2.0.0"), "\(list.out)")
        let approved = await daemon.run("approvals approve 1 --yes --as bob")
        #expect(approved.code == .done, "\(approved.err)")
        #expect(try required(daemon) == "2.0.0")
        let history = await daemon.run("version show \(Self.app) ios")
        #expect(history.out.contains("root (uid 0) for ada, approved by root (uid 0) for bob"), "\(history.out)")
        let again = await daemon.run("approvals approve 1 --yes --as bob")
        #expect(again.err.contains("request 1 is approved already"), "\(again.err)")
    }

    @Test("a release and a cancelled campaign wait as well")
    func others() async throws {
        let daemon = try RealDaemon(more: Self.rule)
        _ = try await daemon.register()
        // A canary of a number that no device has reaches none.
        let canary = await daemon.run(
            "version set \(Self.app) ios --required 2.0.0 --canary 13900139000 --yes --as ada")
        #expect(canary.out.contains("campaign"), "\(canary.out) \(canary.err)")
        let released = await daemon.run("version release \(Self.app) ios --yes --as ada")
        #expect(released.out.contains("release 2.0.0"), "\(released.out) \(released.err)")
        #expect(try daemon.record(of: AppKey(app: Self.app, platform: .ios))?.inForce.required == nil)
        #expect(await daemon.run("approvals approve 1 --yes --as bob").code == .done)
        #expect(try daemon.record(of: AppKey(app: Self.app, platform: .ios))?.inForce.required?.text == "2.0.0")
        let cancelled = await daemon.run("campaigns cancel latest --yes --as ada")
        #expect(cancelled.out.contains("cancel the campaign of 2.0.0"), "\(cancelled.out) \(cancelled.err)")
        #expect(await daemon.run("campaigns list --state cancelled").out.contains("no campaigns"))
        let refused = await daemon.run(["approvals", "refuse", "2", "--reason", "it helps", "--as", "bob"])
        #expect(refused.code == .done, "\(refused.err)")
        let second = await daemon.run("campaigns cancel latest --yes --as bob")
        #expect(second.out.contains("request 3"), "\(second.out) \(second.err)")
        #expect(await daemon.run("approvals approve 3 --yes --as ada").code == .done)
        #expect(await daemon.run("campaigns list --state cancelled").out.contains("2.0.0"))
    }

    @Test("a block waits as well")
    func block() async throws {
        let daemon = try RealDaemon(more: Self.rule)
        _ = try await daemon.register()
        let blocked = await daemon.run("version block \(Self.app) ios 1.0.0 --yes --as ada")
        #expect(blocked.out.contains("block 1.0.0, which reaches 1 of 3 devices"), "\(blocked.out) \(blocked.err)")
        #expect(await daemon.run("approvals approve 1 --yes --as bob").code == .done)
        let record = try daemon.record(of: AppKey(app: Self.app, platform: .ios))
        #expect(record?.requirements.blocked.map(\.text) == ["1.0.0"])
    }

    @Test("alone in an emergency, with a reason, at the control socket")
    func alone() async throws {
        let daemon = try RealDaemon(more: Self.rule)
        _ = try await daemon.register()
        let alone = await daemon.run(
            [
                "version", "set", Self.app, "ios", "--required", "2.0.0", "--yes", "--as", "ada", "--alone",
                "data is lost",
            ])
        #expect(alone.code == .done, "\(alone.err)")
        #expect(try required(daemon) == "2.0.0")
        let audit = await daemon.run("audit --action approval.alone")
        #expect(audit.out.contains("data is lost"), "\(audit.out)")
        let list = await daemon.run("approvals list")
        #expect(list.out.contains("alone"), "\(list.out)")
    }

    @Test("a webhook asks, and a person approves")
    func webhook() async throws {
        let daemon = try RealDaemon(more: Self.rule)
        _ = try await daemon.register()
        let body = Array(#"{"app": "\#(Self.app)", "platform": "ios", "required": "2.0.0"}"#.utf8)
        let answer = try daemon.walk(body, id: "release-2")
        #expect(answer.status == 202)
        #expect(try required(daemon) == nil)
        #expect(await daemon.run("approvals approve 1 --yes --as bob").code == .done)
        #expect(try required(daemon) == "2.0.0")
        // The sender repeats it, and is answered as before.
        #expect(try daemon.walk(body, id: "release-2").status == 202)
    }

    @Test("a rise whose message, canary and terms wait with it is the rise that was asked for")
    func whole() async throws {
        let daemon = try RealDaemon(more: #"approval: { above: "0%" },"#)
        _ = try await daemon.register()
        let asked = await daemon.run(
            [
                "version", "set", Self.app, "ios", "--required", "2.0.0", "--latest", "2.1.0", "--message", "en=New",
                "--message", "zh-Hans=新", "--minimum-os", "15.0", "--canary", "13800138000", "--yes", "--as", "ada",
            ])
        #expect(asked.code == .done, "\(asked.err)")
        #expect(try required(daemon) == nil)
        #expect(await daemon.run("approvals approve 1 --yes --as bob").code == .done)
        let row = try #require(try daemon.record(of: AppKey(app: Self.app, platform: .ios))?.requirements.required)
        #expect(row.version.text == "2.0.0")
        #expect(row.canary == ["13800138000"])
        #expect(row.minimumOS?.text == "15.0")
        #expect(row.message?.text == "New")
        #expect(row.message?.translations.count == 2)
    }

    @Test("a small rise needs one person")
    func small() async throws {
        let daemon = try RealDaemon(more: #"approval: { people: 2, above: "50%", within: "1h" },"#)
        _ = try await daemon.register()
        let set = await daemon.run("version set \(Self.app) ios --required 2.0.0 --yes --as ada")
        #expect(set.out.contains("campaign"), "\(set.out) \(set.err)")
        #expect(try required(daemon) == "2.0.0")
    }

    @Test("what surely reaches few devices, or waits already, is not counted; what is counted has a bound")
    func counting() throws {
        let daemon = try RealDaemon(more: Self.rule)
        let key = AppKey(app: Self.app, platform: .ios)
        let devices = try (0..<300).map { number in
            DeviceRegistration(
                app: key, token: String(repeating: "\(number % 10)", count: 61) + String(number + 100),
                telephone: "\(13_800_138_000 + number)", version: try Version(number < 20 ? "1.0" : "1.1"))
        }
        try daemon.store.register(devices, at: Timestamp(seconds: 1_700_000_000))
        func ask(_ required: String, canary: [String]? = nil) throws -> Approval? {
            var bump = VersionBump(app: key, required: try Version(required))
            bump.telephones = canary
            let applied = try daemon.requirements.bump(bump, by: .operator("ada"), receipt: nil) { _, _ in
                StoredAnswer(status: 200, body: [])
            }
            guard case .applied(let outcome, _) = applied else { return nil }
            return outcome.waiting
        }
        func taken() -> [Slots.Slot] { (0..<2).compactMap { _ in daemon.requirements.counting.take() } }
        var counting = taken()
        #expect(counting.count == 2)
        #expect(try ask("1.1") == nil, "20 of 300 devices are below it")
        #expect(try ask("1.2", canary: ["13800138007"]) == nil, "one device of 300 is the canary's")
        do {
            _ = try ask("2.0")
            Issue.record("it was done")
        } catch let problem as ProblemDetails {
            #expect(problem.status == 503 && problem.detail.contains("are being counted"), "\(problem.detail)")
        }
        counting = []
        let request = try #require(try ask("2.0"))
        #expect(request.reach == ApprovalReach(devices: 300, of: 300))
        counting = taken()
        #expect(try ask("2.0") == request, "it waits already")
        withExtendedLifetime(counting) {}
    }
}
