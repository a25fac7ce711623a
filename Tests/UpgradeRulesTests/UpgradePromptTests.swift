// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation
import SeedApps
import Testing
import UpgradeRules

/// The prompt against the app of 2015: every sequence of events up to a length, each step compared with the replica.
@Suite struct UpgradePromptTests {
    /// The events in an app's life. Documents are as servers send them; the machine reads them with `UpgradeRules`.
    enum Step: CaseIterable {
        case loginNone, loginRemind, loginForce, loginForceWithoutURL
        case push, pushForOther, coreAction, foreground, decline, restart, logout, upgrade
    }

    /// The app as SEEDS describes it: the replica for answers and pushes, and its reactions to them over time.
    struct SeedApp {
        var client = SeedClient(userTelephone: "1")
        /// The one-button prompt that is shown at each return to the foreground: by login, or once a core action showed it.
        var shown: String?

        mutating func live(_ step: Step) -> SeedClient.Prompt {
            switch step {
            case .loginNone, .loginRemind, .loginForce, .loginForceWithoutURL:
                if client.userTelephone == nil { client.userTelephone = "1" }
                let prompt = client.login(UpgradePromptTests.answer(step))
                // Not in the seed, where a restart forgets the flag: the newest judgement replaces a push's.
                client = SeedClient(userTelephone: "1")
                shown = if case .force(let url) = prompt { url } else { nil }
                return prompt
            case .push, .pushForOther:
                let reaction = client.receive(UpgradePromptTests.payload(step))
                if case .accepted(_, let url) = reaction, shown != nil { shown = url }
            case .coreAction:
                if case .force(let url) = client.coreAction() { shown = url }
                return showing
            case .foreground: return showing
            case .decline: return showing
            case .restart: break
            case .logout: self = SeedApp(client: SeedClient(userTelephone: nil), shown: nil)
            case .upgrade: self = SeedApp(client: SeedClient(userTelephone: client.userTelephone), shown: nil)
            }
            return .none
        }

        private var showing: SeedClient.Prompt { shown.map { .force(downloadURL: $0) } ?? .none }
    }

    /// The app as it is written today.
    struct App {
        var prompt: UpgradePrompt
        var user: String? = "1"
        var build = 1

        init() throws {
            prompt = UpgradePrompt(installed: try Version("1"))
        }

        mutating func live(_ step: Step) throws -> UpgradePrompt.Action {
            switch step {
            case .loginNone, .loginRemind, .loginForce, .loginForceWithoutURL:
                user = "1"
                return prompt.handle(.loginAnswered(try UpgradePromptTests.decoded(step)))
            case .push, .pushForOther:
                let push = try JSONDecoder().decode(UpgradePush.self, from: UpgradePromptTests.payload(step))
                let verdict = push.verdict(
                    type: "mddy_needUpgrade", userTelephone: user, installed: try Version("\(build)"))
                guard case .force(let url) = verdict else { return .none }
                return prompt.handle(.pushReceived(downloadURL: url))
            case .coreAction: return prompt.handle(.coreActionBegan)
            case .foreground: return prompt.handle(.returnedToForeground)
            case .decline: return prompt.handle(.userDeclined)
            case .restart, .upgrade:
                if step == .upgrade { build += 1 }
                prompt = try #require(UpgradePrompt(rawValue: prompt.rawValue))
                return prompt.handle(.upgraded(to: try Version("\(build)")))
            case .logout:
                user = nil
                return prompt.handle(.loggedOut)
            }
        }
    }

    @Test func everyTraceIsTheSeeds() throws {
        var traces = 0
        try walk(App(), SeedApp(), [], depth: 4, &traces)
        #expect(traces == (1...4).reduce(0) { sum, length in sum + (1...length).reduce(1) { n, _ in n * 12 } })
    }

    /// Long lives, at random but the same each time.
    @Test func longTracesAreTheSeeds() throws {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<200 {
            var (app, seed): (App, SeedApp) = (try App(), SeedApp())
            var trace: [Step] = []
            for _ in 0..<60 {
                let step = Step.allCases.randomElement(using: &generator) ?? .push
                trace.append(step)
                try compare(&app, &seed, trace)
            }
        }
    }

    private func walk(_ app: App, _ seed: SeedApp, _ trace: [Step], depth: Int, _ traces: inout Int) throws {
        guard depth > 0 else { return }
        for step in Step.allCases {
            var (app, seed) = (app, seed)
            traces += 1
            try compare(&app, &seed, trace + [step])
            try walk(app, seed, trace + [step], depth: depth - 1, &traces)
        }
    }

    private func compare(_ app: inout App, _ seed: inout SeedApp, _ trace: [Step]) throws {
        guard let step = trace.last else { return }
        let before = app.prompt
        let action = try app.live(step)
        let expected: UpgradePrompt.Action =
            switch seed.live(step) {
            case .none: .none
            case .remind(let url): .showRemind(downloadURL: url)
            case .force(let url): .showForce(downloadURL: url)
            }
        if action != expected { Issue.record("\(trace): \(action), not \(expected); it was \(before)") }
        if step == .push || step == .pushForOther, action != .none { Issue.record("\(trace): a push popped up") }
        if UpgradePrompt(rawValue: app.prompt.rawValue) != app.prompt { Issue.record("\(trace): not kept") }
    }

    // MARK: Documents

    static func answer(_ step: Step) -> [UInt8] {
        let body =
            switch step {
            case .loginRemind: #"{"hasNewVersion":"1","needUpgrade":0,"downloadUrl":"https://login"}"#
            case .loginForce: #"{"hasNewVersion":1,"needUpgrade":"1","downloadUrl":"https://login"}"#
            case .loginForceWithoutURL: #"{"hasNewVersion":"1","needUpgrade":"1"}"#
            default: #"{"hasNewVersion":"0","needUpgrade":"0","downloadUrl":"https://login"}"#
            }
        return Array(#"{"body":\#(body)}"#.utf8)
    }

    private static func decoded(_ step: Step) throws -> LoginAnswer {
        struct Reply: Decodable { var body: LoginAnswer }
        return try JSONDecoder().decode(Reply.self, from: Data(answer(step))).body
    }

    static func payload(_ step: Step) -> Data {
        Data(
            UpgradePayload(type: "mddy_needUpgrade", alert: "Upgrade, please.", downloadURL: "https://push")
                .render(userTelephone: step == .push ? "1" : "2"))
    }

    // MARK: Beyond the traces

    @Test func aPushWaitsForTheCoreActionAlsoAcrossARestart() throws {
        var prompt = UpgradePrompt(installed: try Version("1.0"))
        #expect(prompt.handle(.pushReceived(downloadURL: "u")) == .none)
        #expect(prompt.handle(.returnedToForeground) == .none)
        prompt = try #require(UpgradePrompt(rawValue: prompt.rawValue))
        #expect(prompt.handle(.upgraded(to: try Version("1.0"))) == .none)
        #expect(prompt.handle(.returnedToForeground) == .none)
        #expect(prompt.handle(.coreActionBegan) == .showForce(downloadURL: "u"))
        #expect(prompt.handle(.returnedToForeground) == .showForce(downloadURL: "u"))
    }

    @Test func onlyANewerVersionEndsIt() throws {
        var prompt = UpgradePrompt(installed: try Version("1.9"))
        _ = prompt.handle(.judged(.force, downloadURL: "u"))
        for same in ["1.9", "1.09.0", "1.8"] {
            _ = prompt.handle(.upgraded(to: try Version(same)))
            #expect(prompt.handle(.returnedToForeground) == .showForce(downloadURL: "u"), "\(same)")
        }
        // Back at 1.8, and 1.9 is newer than that.
        _ = prompt.handle(.upgraded(to: try Version("1.10")))
        #expect(prompt.handle(.returnedToForeground) == .none)
    }

    @Test func whatTheStoreOffersNeverForcesAndTakesNothingBack() throws {
        var prompt = UpgradePrompt(installed: try Version("1"))
        #expect(prompt.handle(.updateFound(downloadURL: "s")) == .showRemind(downloadURL: "s"))
        #expect(prompt.handle(.updateFound(downloadURL: "")) == .none)
        _ = prompt.handle(.pushReceived(downloadURL: "p"))
        #expect(prompt.handle(.updateFound(downloadURL: "s")) == .none)
        #expect(prompt.handle(.coreActionBegan) == .showForce(downloadURL: "p"))
        #expect(prompt.handle(.updateFound(downloadURL: "s")) == .none)
        #expect(prompt.handle(.returnedToForeground) == .showForce(downloadURL: "p"))
    }

    @Test func nothingIsShownWithoutAURL() throws {
        var prompt = UpgradePrompt(installed: try Version("1"))
        for url in [nil, ""] {
            #expect(prompt.handle(.judged(.force, downloadURL: url)) == .none)
            #expect(prompt.handle(.judged(.remind, downloadURL: url)) == .none)
        }
        #expect(prompt.handle(.pushReceived(downloadURL: "")) == .none)
        #expect(prompt.handle(.coreActionBegan) == .none)
    }

    @Test(arguments: ["", "clear", "clear x", "clear 1 u", "forcing 1", "forcing 1 ", "pending  u", "Forcing 1 u"])
    func aDamagedTextIsNone(text: String) {
        #expect(UpgradePrompt(rawValue: text) == nil)
    }

    @Test func itIsCodableAsItsText() throws {
        var prompt = UpgradePrompt(installed: try Version("1.01"))
        _ = prompt.handle(.pushReceived(downloadURL: "https://x/y z"))
        let data = try JSONEncoder().encode([prompt])
        #expect(try JSONDecoder().decode([UpgradePrompt].self, from: data) == [prompt])
        #expect(prompt.rawValue == "pending 1.01 https://x/y z")
    }
}
