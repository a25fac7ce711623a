// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Terminal
import Testing
import UpgradeRules

@testable import RelayDaemon
@testable import VersionSources

/// A typing error on a release night, with the daemon's own parts.
@Suite struct WithdrawalTests {
    private let daemon: RealDaemon

    init() throws {
        daemon = try RealDaemon()
    }

    @Test func `An implausible rise is refused, let through with a yes, and taken back`() async throws {
        _ = try await daemon.register()
        let app = RealDaemon.app
        // One of two devices runs 2.0.0, the other 1.0.0: 20.0.0 is a typing error, and 2.0.0 is none.
        let typo = await daemon.run("version set \(app) ios --required 20.0.0")
        #expect(typo.code == .failed)
        #expect(
            typo.err.contains("required: 20.0.0 looks like a typing error")
                && typo.err.contains("beyond doubt is 1.0.0"),
            "\(typo.err)")
        #expect(await daemon.run("version set \(app) ios --latest 4.0").err.contains("latest: 4.0 looks like"))
        let right = await daemon.run(
            "version set \(app) ios --required 2.0.0 --message two --download-url https://example.com/two")
        #expect(right.code == .done, "\(right.err)")
        let wrong = await daemon.run("version set \(app) ios --required 20.0.0 --yes")
        let id = try #require(wrong.out.firstMatch(of: /campaign (\w+) started/)?.output.1)
        let back = await daemon.run(
            ["version", "withdraw", app, "ios", "--reason", "2.0.0 was meant", "--yes"])
        let lines = back.out.split(separator: "\n")
        #expect(
            lines.dropLast() == [
                "\(app) ios: 20.0.0 is withdrawn; required 2.0.0, in force 2.0.0", "campaign \(id) is cancelled",
            ])
        let sentence = try #require(lines.last)
        #expect(sentence.hasPrefix("20.0.0 of \(app) ios"), "\(sentence)")
        let effects =
            "What was in force before it is in force again, on every channel. Pushes that were sent stay sent."
        #expect(sentence.hasSuffix(": withdrawn. \(effects) In force for everybody: 2.0.0."), "\(sentence)")
        let shown = await daemon.run("version show \(app)").out
        #expect(shown.contains("withdraw"), "\(shown)")
        #expect(await daemon.run("campaigns show \(id)").out.contains("withdrawn by "))
        #expect(await daemon.run("version set \(app) ios --required 3.0.0").out.contains("started"))
    }

    @Test func `A source's wild word is held, with the command that takes it`() async throws {
        _ = try await daemon.register()
        let app = AppKey(app: RealDaemon.app, platform: .ios)
        let wild = try Version("99.0")
        for source in ["appStore", "launchGate"] {
            // The evidence that it offers the version comes from the source itself, too.
            daemon.requirements.sources.status.note(
                .appStore(
                    LookupEvidence(
                        askedAt: Timestamp(seconds: 1), version: source == "appStore" ? wild : nil, releasedAt: nil,
                        firstShownAt: Timestamp(seconds: 1))), of: app)
            for bump in [VersionBump(app: app, latest: wild), VersionBump(app: app, required: wild)] {
                let error = #expect(throws: ControlError.self) {
                    try daemon.requirements.take(bump, from: source)
                }
                let field = bump.required == nil ? "latest" : "required"
                #expect(error?.description.contains("version set \(RealDaemon.app) ios --\(field) 99.0 --yes") == true)
            }
        }
        #expect(await !daemon.run("version show \(RealDaemon.app)").out.contains("99.0"))
        // The store's next ordinary release is taken.
        try daemon.requirements.take(VersionBump(app: app, latest: Version("2.1.0")), from: "appStore")
        #expect(await daemon.run("version show \(RealDaemon.app)").out.contains("2.1.0"))
    }

    @Test func `A plan shows the texts that would be sent`() async throws {
        _ = try await daemon.register()
        let app = RealDaemon.app
        let first = await daemon.run(
            "version set \(app) ios --required 1.5 --message once --download-url https://example.com/once")
        #expect(first.code == .done, "\(first.err)")
        let plan = await daemon.run("plan \(app) ios --required 2.0.0 --json").out
        #expect(plan.contains("https://example.com/app") && !plan.contains("once"), "\(plan)")
        let json = await daemon.run("version set \(app) ios --required 2.0.0 --json").out
        #expect(json.contains(#""downloadUrl":"https://example.com/app","message":null"#), "\(json)")
    }

    @Test func `A plan promises no push that a bump would not send`() async throws {
        _ = try await daemon.register()
        let app = RealDaemon.app
        #expect(await daemon.run("plan \(app) ios --required 2.0.0 --json").out.contains(#""toPush":1,"#))
        let id = try await daemon.announce()
        let again = await daemon.run("plan \(app) ios --required 2.0.0 --json").out
        #expect(again.contains(#""toPush":0,"#) && again.contains(#""rises":false"#), "\(again)")
        let text = await daemon.run("plan \(app) ios --required 2.0.0").out
        #expect(text.contains("2.0.0 is required already, and campaign \(id) announces it"), "\(text)")
        #expect(text.contains(#/notified by that campaign +1 /#), "\(text)")
        #expect(!text.contains("in force at once"))
        // The bump does what was planned.
        #expect(await daemon.run("version set \(app) ios --required 2.0.0 --json").out.contains(#""campaign":null"#))
    }
}
