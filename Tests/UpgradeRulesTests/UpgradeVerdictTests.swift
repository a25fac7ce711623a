// SPDX-License-Identifier: Apache-2.0
import Foundation
import SeedApps
import Testing
import UpgradeRules

@Suite struct UpgradeVerdictTests {
    /// installed, latest, required, verdict with a URL.
    static let table: [(String?, String?, String?, UpgradeVerdict)] = [
        ("1.9.0", "2.1.0", "2.0.0", .force),
        ("1.9.9", "2.0.0", "2.0.0", .force),
        ("2.0.0", "2.1.0", "2.0.0", .remind),
        ("2.0", "2.1.0", "2.0.0", .remind),
        ("2.1", "2.1.0", "2.0.0", .none),
        ("2.1.0", "2.1", "2.0.0", .none),
        ("3.0", "2.1.0", "2.0.0", .none),
        ("1.10", "1.9", "1.9", .none),
        ("1.9", "1.10", "1.9", .remind),
        ("1.9", "1.10", "1.10", .force),
        ("1.01", "1.1", "1.1.0", .none),
        ("1.9", "2.0", nil, .remind),
        ("2.0", "2.0", nil, .none),
        ("1.9", nil, "2.0", .force),
        ("2.0", nil, "2.0", .none),
        ("1.9", nil, nil, .none),
        ("1.9", "1.9", "2.0", .force),
        (nil, "2.1.0", "2.0.0", .none),
        (nil, nil, "2.0.0", .none),
        (nil, nil, nil, .none),
        ("0", "0.0.1", "0", .remind),
    ]

    @Test(arguments: table)
    func judgesAtLogin(installed: String?, latest: String?, required: String?, verdict: UpgradeVerdict) throws {
        let (installed, latest, required) = try (
            installed.map { try Version($0) }, latest.map { try Version($0) }, required.map { try Version($0) }
        )
        #expect(
            UpgradeVerdict.judge(installed: installed, latest: latest, required: required, hasDownloadURL: true)
                == verdict)
        #expect(
            UpgradeVerdict.judge(installed: installed, latest: latest, required: required, hasDownloadURL: false)
                == .none)
    }

    @Test(arguments: table)
    func theClientReadsTheAnswerSo(
        installed: String?, latest: String?, required: String?, verdict: UpgradeVerdict
    ) throws {
        let (installed, latest, required) = try (
            installed.map { try Version($0) }, latest.map { try Version($0) }, required.map { try Version($0) }
        )
        let url = "https://apps.apple.com/app/id1173193999?a=\"b\""
        for downloadURL in [url, "", nil] {
            let answer = LoginAnswer(
                installed: installed, latest: latest, required: required, downloadURL: downloadURL, message: "新")
            let expected: SeedClient.Prompt =
                switch downloadURL == url ? verdict : .none {
                case .none: .none
                case .remind: .remind(downloadURL: url)
                case .force: .force(downloadURL: url)
                }
            let document = try JSONEncoder().encode(["body": answer])
            #expect(SeedClient(userTelephone: nil).login(document) == expected)
            #expect(answer.verdict == (downloadURL == url ? verdict : .none))
            #expect(try JSONDecoder().decode(LoginAnswer.self, from: try JSONEncoder().encode(answer)) == answer)
        }
    }

    @Test func writesTheNamesThatClientsKnow() throws {
        let answer = LoginAnswer(
            installed: try Version("1.9"), latest: try Version("2.10"), required: try Version("2.0"),
            downloadURL: "https://example.com/app", message: "Please upgrade.")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
            String(decoding: try encoder.encode(answer), as: UTF8.self)
                == #"{"downloadUrl":"https://example.com/app","hasNewVersion":"1","latest":"2.10","#
                + #""message":"Please upgrade.","needUpgrade":"1","required":"2.0"}"#)
    }

    /// Servers in the field send numbers and strings alike.
    @Test(
        arguments: [
            (#"{"hasNewVersion":0}"#, .none),
            (#"{"hasNewVersion":"0","needUpgrade":"1","downloadUrl":"u"}"#, .none),
            (#"{"hasNewVersion":1,"needUpgrade":1,"downloadUrl":"u"}"#, .force),
            (#"{"hasNewVersion":"1","needUpgrade":"1","downloadUrl":"u"}"#, .force),
            (#"{"hasNewVersion":"1","needUpgrade":"0","downloadUrl":"u"}"#, .remind),
            (#"{"hasNewVersion":"2","needUpgrade":"2","downloadUrl":"u"}"#, .remind),
            (#"{"hasNewVersion":true,"needUpgrade":true,"downloadUrl":"u"}"#, .force),
            (#"{"hasNewVersion":"1","needUpgrade":"1"}"#, .none),
            (#"{"hasNewVersion":"1","needUpgrade":"1","downloadUrl":""}"#, .none),
        ] as [(String, UpgradeVerdict)])
    func readsAnswersAsTheClientDoes(json: String, verdict: UpgradeVerdict) throws {
        let expected: SeedClient.Prompt =
            switch verdict {
            case .none: .none
            case .remind: .remind(downloadURL: "u")
            case .force: .force(downloadURL: "u")
            }
        #expect(SeedClient(userTelephone: nil).login(#"{"body":\#(json)}"#.utf8) == expected)
        if json.contains("needUpgrade") {
            #expect(try JSONDecoder().decode(LoginAnswer.self, from: Data(json.utf8)).verdict == verdict)
        }
    }

    @Test(
        arguments: [
            (nil, true), ("1.9.9", true), ("1", true), ("2.0", false), ("2.0.0", false), ("2", false), ("2.0.1", false),
            ("10", false), ("", true), ("beta", true), ("2.0-beta", true), ("3.x", true),
        ] as [(String?, Bool)])
    func pushesToOlderAndUnknown(installed: String?, pushed: Bool) throws {
        let required = try Version("2.0.0")
        let version = installed.flatMap { try? Version($0) }
        #expect(UpgradeVerdict.needsPush(installed: version, required: required) == pushed)
        let arena = Array("<\(installed ?? "")>".utf8)
        let range = installed.map { 1..<1 + $0.utf8.count }
        #expect(UpgradeVerdict.needsPush(arena, range, required: required) == pushed)
    }

    /// A user who is pushed to with a known version is forced at the next login, and the other way round.
    @Test(arguments: table)
    func pushAndLoginAgree(installed: String?, latest: String?, required: String?, verdict: UpgradeVerdict) throws {
        guard let installed, let required else { return }
        let pushed = UpgradeVerdict.needsPush(installed: try Version(installed), required: try Version(required))
        #expect(pushed == (verdict == .force))
    }
}
