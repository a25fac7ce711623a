// SPDX-License-Identifier: Apache-2.0
import Foundation
import SeedApps
import Testing
import UpgradeRules

/// The verdicts that an app reaches by itself: from a push, a LaunchGate document, a lookup.
@Suite struct ClientVerdictTests {
    // MARK: Push

    /// Every combination of field values that the client may meet, judged by the replica and by `UpgradePush`, from the
    /// bytes and from the dictionary that a notification carries.
    @Test func everyPushIsJudgedAsTheSeedDoes() throws {
        let values = [
            nil, "null", #""""#, #""1""#, "1", #""1 ""#, "[]", "true", #""mddy_needUpgrade""#, "1.0", #""é""#,
        ]
        var forced = 0
        for user in [nil, "", "1", "2", "e\u{301}"] as [String?] {
            for userTel in values {
                for type in values {
                    for url in values {
                        let fields = [("userTel", userTel), ("type", type), ("downloadUrl", url)]
                            .compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }
                        let payload = Data(#"{"aps":{"alert":"a"},"page":{\#(fields.joined(separator: ","))}}"#.utf8)
                        var replica = SeedClient(userTelephone: user)
                        let expected = replica.receive(payload)
                        let fromBytes = try JSONDecoder().decode(UpgradePush.self, from: payload)
                        let verdict = fromBytes.verdict(
                            type: "mddy_needUpgrade", userTelephone: user, installed: nil)
                        check(verdict, expected, payload)
                        if case .force = verdict { forced += 1 }
                        guard let tree = try JSONSerialization.jsonObject(with: payload) as? [AnyHashable: Any] else {
                            Issue.record("not a dictionary")
                            continue
                        }
                        let fromDictionary = UpgradePush(userInfo: tree)
                        check(
                            fromDictionary.verdict(type: "mddy_needUpgrade", userTelephone: user, installed: nil),
                            expected,
                            payload)
                        // The same case as Android carries it.
                        let data = ["page": "{\(fields.joined(separator: ","))}", "pushId": "1"]
                        var android = SeedAndroidClient(userTelephone: user)
                        let message = UpgradeMessage(data: data) {
                            try JSONDecoder().decode(UpgradePage.self, from: Data($0.utf8))
                        }
                        let androidVerdict = message.push.verdict(
                            type: "mddy_needUpgrade", userTelephone: user, installed: nil)
                        check(androidVerdict, android.receive(data: data).asOnIOS, payload)
                        #expect(androidVerdict == verdict && message.pushID == "1")
                    }
                }
            }
        }
        #expect(forced > 0)
    }

    @Test(arguments: [[:], ["page": ""], ["page": "[]"], ["page": "\"x\""], ["page": "{"], ["pushId": "7"]])
    func anotherMessageIsDropped(data: [String: String]) {
        let message = UpgradeMessage(data: data) {
            try JSONDecoder().decode(UpgradePage.self, from: Data($0.utf8))
        }
        #expect(message.push.verdict(type: "t", userTelephone: "1", installed: nil) == .dropped(.noTelephone))
        #expect(message.pushID == data["pushId"])
    }

    /// A push for a version that the app already has is dropped, on both platforms; one that cannot be compared is not.
    @Test(
        arguments: [
            (#""required":"2.0.0""#, "1.9.9", nil, false), (#""required":"2.0.0""#, "2.0", nil, true),
            (#""required":"2.9""#, "2.10", nil, true), (#""required":"2.10""#, "2.9", nil, false),
            (#""required":"2.0.0""#, nil, nil, false), (#""required":2"#, "2.0.0", nil, true),
            (#""required":"two""#, "9", nil, false), (#""required":null"#, "9", nil, false), ("", "9", 900, false),
            (#""required":"2.0.0","build":200"#, "1.9", 199, false),
            (#""required":"2.0.0","build":200"#, nil, 200, true),
            (#""required":"2.0.0","build":"200""#, "1.9", 201, true),
            (#""required":"2.0.0","build":200"#, "2.0.0", 1, true), (#""build":[]"#, "9", 900, false),
            (#""blocked":"2.1.5""#, "2.1.5", nil, false), (#""blocked":"2.1.5""#, "2.1.5.0", nil, false),
            (#""blocked":"2.1.5""#, "2.1.4", nil, true), (#""blocked":"2.1.5""#, "2.1.6", nil, true),
            (#""blocked":"2.1.5""#, nil, 7, false),
        ] as [(String, String?, Int64?, Bool)])
    func aPushThatIsMetIsDropped(fields: String, installed: String?, build: Int64?, isMet: Bool) throws {
        let page = #"{"type":"t","userTel":"1","downloadUrl":"u"\#(fields.isEmpty ? "" : ","+fields)}"#
        let installed = try installed.map { try Version($0) }
        let tree = try JSONSerialization.jsonObject(with: Data(page.utf8))
        let pushes = [
            try JSONDecoder().decode(UpgradePush.self, from: Data(#"{"page":\#(page)}"#.utf8)),
            UpgradePush(userInfo: ["page": tree]),
            UpgradeMessage(data: ["page": page]) {
                try JSONDecoder().decode(UpgradePage.self, from: Data($0.utf8))
            }.push,
        ]
        for push in pushes {
            let verdict = push.verdict(type: "t", userTelephone: "1", installed: installed, build: build)
            #expect(verdict == (isMet ? .dropped(.current) : .force(downloadURL: "u")))
        }
        // The apps in the field ignore the new fields.
        var seed = SeedClient(userTelephone: "1", pushType: "t")
        #expect(seed.receive(Array(#"{"aps":{"alert":"a"},"page":\#(page)}"#.utf8)).isAccepted)
        var android = SeedAndroidClient(userTelephone: "1", pushType: "t")
        #expect(android.receive(data: ["page": page]) == .accepted(downloadURL: "u"))
    }

    /// FAULTS 1.9: a phone that is current was forced, and stayed so. The Kotlin of the guide, line by line.
    @Test func theGuidesAppOnAndroidDropsWhatItMeets() throws {
        func app(_ version: String, required: String) -> (SeedAndroidClient, SeedAndroidClient.Reaction) {
            var app = SeedAndroidClient(userTelephone: "1", pushType: "t", versionName: version)
            let page = #"{"type":"t","userTel":"1","downloadUrl":"u","required":"\#(required)"}"#
            let reaction = app.receive(data: ["page": page])
            return (app, reaction)
        }
        for (version, required) in [("2.0", "2.0.0"), ("2.0.0", "2.0"), ("2.10", "2.9"), ("3", "2.9.9")] {
            #expect(app(version, required: required).1 == .dropped(.current), "\(version), \(required)")
        }
        for (version, required) in [("1.9.9", "2.0"), ("2.9", "2.10"), ("2.0", "2.0.1"), ("9.0", "")] {
            #expect(app(version, required: required).1 == .accepted(downloadURL: "u"), "\(version), \(required)")
        }
        // An upgrade that the app has at its next start is forgotten.
        var (updated, _) = app("1.9", required: "2.0")
        updated.start(versionName: "1.9.9")
        #expect(updated.upgradeURL == "u")
        updated.start(versionName: "2.0.1")
        #expect(updated.upgradeURL == nil)

        var left = SeedAndroidClient(userTelephone: "1", pushType: "t", versionName: "2.1.4")
        let page = #"{"type":"t","userTel":"1","downloadUrl":"u","blocked":"2.1.5"}"#
        #expect(left.receive(data: ["page": page]) == .dropped(.current))
        left.start(versionName: "2.1.5")
        #expect(left.receive(data: ["page": page]) == .accepted(downloadURL: "u"))
        left.start(versionName: "2.1.6")
        #expect(left.upgradeURL == nil)

        let guide = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../etc/ANDROID.md").standardized,
            encoding: .utf8)
        let lines = [
            "if (meets(required)) return ", "if (hasLeft(blocked)) return", "if (!prefs.rememberPush(",
            "prefs.upgradeRequired = required",
            "prefs.upgradeBlocked = blocked", "if (meets(prefs.upgradeRequired)) prefs.upgradeUrl = null",
            "if (hasLeft(prefs.upgradeBlocked)) prefs.upgradeUrl = null",
            "blocked.isNotEmpty() && blocked != BuildConfig.VERSION_NAME",
            "if (required.isEmpty()) return false", "if (difference != 0) return difference > 0",
        ]
        var rest = guide[...]
        for line in lines {
            let found = try #require(rest.range(of: line), "\(line)")
            rest = rest[found.upperBound...]
        }
    }

    private func check(_ verdict: UpgradePush.Verdict, _ expected: SeedClient.Reaction, _ payload: Data) {
        let expectedVerdict: UpgradePush.Verdict? =
            switch expected {
            case .accepted(_, let url): .force(downloadURL: url)
            case .dropped(.noUserLoggedIn): .dropped(.noUserLoggedIn)
            case .dropped(.noUserTel): .dropped(.noTelephone)
            case .dropped(.otherUser): .dropped(.otherUser)
            case .dropped(.otherType): .dropped(.otherType)
            case .dropped(.noDownloadURL): .dropped(.noDownloadURL)
            case .dropped: nil
            }
        if verdict != expectedVerdict {
            Issue.record("\(String(decoding: payload, as: UTF8.self)): \(verdict), not \(expected)")
        }
    }

    @Test(arguments: [#"{"aps":{"alert":"news"}}"#, #"{"page":[]}"#, #"{"page":"x"}"#, #"{"page":{}}"#])
    func anotherPushIsDropped(payload: String) throws {
        let push = try JSONDecoder().decode(UpgradePush.self, from: Data(payload.utf8))
        #expect(push.verdict(type: "t", userTelephone: "1", installed: nil) == .dropped(.noTelephone))
        #expect(UpgradePush(userInfo: ["aps": ["alert": "news"]]) == push)
    }

    // MARK: LaunchGate

    static let document = """
        { "ios":     { "requiredUpdate": { "minimumVersion": "1.9", "message": "m" },
                       "optionalUpdate": { "optionalVersion": "1.12", "message": "o" },
                       "alert":          { "message": "a", "blocking": true }, "later": 1 },
          "android": { "requiredUpdate": { "minimumVersion": "9", "message": "m" } }, "more": {} }
        """

    @Test(
        arguments: [
            (.ios, "1.8.9", .force), (.ios, "1.9", .remind), (.ios, "1.09.0", .remind), (.ios, "1.10", .remind),
            (.ios, "1.12", .none), (.ios, "10.0", .none), (.ios, nil, .none),
            (.android, "8", .force), (.android, "9", .none), (.android, "10", .none),
        ] as [(Platform, String?, UpgradeVerdict)])
    func aDocumentIsComparedAsNumbers(platform: Platform, installed: String?, verdict: UpgradeVerdict) throws {
        let document = try JSONDecoder().decode(LaunchGateDocument.self, from: Data(Self.document.utf8))
        let installed = try installed.map { try Version($0) }
        #expect(document.verdict(platform: platform, installed: installed, hasDownloadURL: true) == verdict)
        #expect(document.verdict(platform: platform, installed: installed, hasDownloadURL: false) == .none)
        #expect(document.ios?.alert == LaunchGateDocument.Alert(message: "a", blocking: true))
    }

    @Test func whatIsRenderedIsReadAgain() throws {
        let document = try JSONDecoder().decode(LaunchGateDocument.self, from: Data(Self.document.utf8))
        #expect(try JSONDecoder().decode(LaunchGateDocument.self, from: Data(document.rendered())) == document)
    }

    @Test(
        arguments: [
            #"{"ios":{"requiredUpdate":{"minimumVersion":"9"}}}"#,
            #"{"ios":{"requiredUpdate":{"minimumVersion":9,"message":"m"}}}"#,
            #"{"ios":{"requiredUpdate":{"minimumVersion":"9","message":"m"},"alert":{"message":"a"}}}"#,
            #"{"ios":{"optionalUpdate":[]}}"#, #"{"ios":7}"#, "<html>", "",
        ])
    func aBrokenDocumentIsRefusedWhole(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(LaunchGateDocument.self, from: Data(text.utf8)) }
    }

    @Test(arguments: [("", "m"), ("9", ""), ("nine", "m"), ("9.x", "m")])
    func whatIsNoVersionLocksNobodyOut(version: String, message: String) throws {
        let required = LaunchGateDocument.RequiredUpdate(minimumVersion: version, message: message)
        let document = LaunchGateDocument(ios: LaunchGateDocument.Section(required: required))
        #expect(document.verdict(platform: .ios, installed: try Version("1"), hasDownloadURL: true) == .none)
        #expect(document.verdict(platform: .android, installed: try Version("1"), hasDownloadURL: true) == .none)
    }

    // MARK: Lookup

    static let answer = """
        {"resultCount":1,"results":[{"isGameCenterEnabled":false,"fileSizeBytes":"20971520","artistId":1173193998,\
        "trackId":1173193999,"bundleId":"com.imlian.QZJapanese","version":"1.01","minimumOsVersion":"8.0",\
        "releaseNotes":"one\\ntwo","currentVersionReleaseDate":"2016-11-20T21:03:47Z","genres":["Education"],\
        "trackViewUrl":"https://itunes.apple.com/us/app/%E6%97%A5/id1173193999?mt=8&uo=4"}]}
        """

    @Test(
        arguments: [
            ("1.0", nil, .remind), ("1.00.9", nil, .remind), ("1.1", nil, .none), ("1.01", nil, .none),
            ("1.2", nil, .none), ("2", nil, .none), (nil, nil, .none), ("1.0", "8.0", .remind), ("1.0", "7.1.2", .none),
        ] as [(String?, String?, UpgradeVerdict)])
    func aLookupRemindsAndNeverForces(installed: String?, system: String?, verdict: UpgradeVerdict) throws {
        let lookup = try JSONDecoder().decode(AppStoreLookup.self, from: Data(Self.answer.utf8))
        let installed = try installed.map { try Version($0) }
        #expect(lookup.verdict(installed: installed, system: try system.map { try Version($0) }) == verdict)
        #expect(lookup.releaseNotes == "one\ntwo" && lookup.currentVersionReleaseDate == "2016-11-20T21:03:47Z")
        #expect(try lookup.offers(Version("1.1")) && !lookup.offers(Version("1.1.1")))
    }

    @Test func anUnknownAppOffersNothing() throws {
        let lookup = try JSONDecoder().decode(
            AppStoreLookup.self, from: Data(#"{"resultCount":0,"results":[]}"#.utf8))
        #expect(lookup.verdict(installed: try Version("1")) == .none)
        #expect(try !lookup.offers(Version("0")))
        for text in ["<html>", "{}", #"{"results":{}}"#] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(AppStoreLookup.self, from: Data(text.utf8)) }
        }
    }
}

extension SeedAndroidClient.Reaction {
    /// The same reaction of the app on the other platform.
    fileprivate var asOnIOS: SeedClient.Reaction {
        switch self {
        case .accepted(let url): .accepted(alert: "a", downloadURL: url)
        case .dropped(.noUserLoggedIn): .dropped(.noUserLoggedIn)
        case .dropped(.noUserTel): .dropped(.noUserTel)
        case .dropped(.otherUser): .dropped(.otherUser)
        case .dropped(.otherType): .dropped(.otherType)
        case .dropped(.noDownloadURL): .dropped(.noDownloadURL)
        case .dropped(.notAMessage), .dropped(.noPage), .dropped(.repeated), .dropped(.current): .dropped(.noPage)
        }
    }
}
