// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules
import WireFormat

@testable import Configuration

/// The words of a push: a text, or all that a notification can have.
@Suite struct PushConfigurationTests {
    private static func app(_ push: String, _ platform: Platform = .ios, _ fcm: String = "") -> String {
        let way = platform == .ios ? "apns: null" : "fcm: { serviceAccount: { file: \"/k\" }, \(fcm) }"
        return "{ apps: { a: { \(platform.rawValue): { push: { \(push) }, \(way) } } } }"
    }

    private func read(_ text: String) throws -> PushWords {
        try #require(try ConfigurationFile.parse(Array(text.utf8), path: "test").apps.first).push.words
    }

    private static func words(_ body: String, _ change: (inout PushWords) -> Void = { _ in }) -> PushWords {
        var words = PushWords(body)
        change(&words)
        return words
    }

    private static let usual = "A new version is required."

    private static let good: [(text: String, words: PushWords)] = [
        (app(""), words(usual)),
        (app("alert: null"), words(usual)),
        (app("alert: \"Now\""), words("Now")),
        (app("alert: { body: \"Now\" }"), words("Now")),
        (app("alert: { title: \"T\", body: \"Now\" }"), words("Now") { $0.title = "T" }),
        (app("alert: { locKey: \"K\" }"), words(usual) { $0.appBody = .init(key: "K") }),
        (
            app("alert: { titleLocKey: \"T\", titleLocArgs: [\"1\"], locKey: \"K\", locArgs: [\"2\", \"\"] }"),
            words(usual) {
                $0.appTitle = .init(key: "T", arguments: ["1"])
                $0.appBody = .init(key: "K", arguments: ["2", ""])
            }
        ),
        (
            app("sound: \"default\", interruptionLevel: \"time-sensitive\", threadId: \"upgrades\""),
            words(usual) {
                ($0.sound, $0.interruptionLevel, $0.threadID) = ("default", .timeSensitive, "upgrades")
            }
        ),
        (app("interruptionLevel: \"passive\""), words(usual) { $0.interruptionLevel = .passive }),
        (app("", .android, "notification: { title: \"T\" }"), words(usual) { $0.title = "T" }),
        (app("alert: { body: \"Now\" }", .android), words("Now")),
        (app("alert: { title: \"T\", body: \"b\" }", .android, "notification: {}"), words("b") { $0.title = "T" }),
        (
            app("alert: { titleLocKey: \"T\", body: \"b\" }", .android, "notification: {}"),
            words("b") { $0.appTitle = .init(key: "T") }
        ),
    ]

    @Test(arguments: good.indices) func `What is said is taken`(number: Int) throws {
        let (text, expected) = Self.good[number]
        #expect(try read(text) == expected)
    }

    private static let ios = #"apps["a"].ios.push"#
    private static let android = #"apps["a"].android"#

    private static let wrong: [(text: String, fault: String)] = [
        (app("alert: []"), "\(ios).alert: a list is not text, nor an object { … }"),
        (app("alert: \"\""), "\(ios).alert: \"\" is empty; a sentence for the user"),
        (
            app("alert: {}"),
            "\(ios).alert.body: missing; a sentence for the user, or locKey: a key of the app's own texts"
        ),
        (
            app("alert: { title: \"T\" }"),
            "\(ios).alert.body: missing; a sentence for the user, or locKey: a key of the app's own texts"
        ),
        (app("alert: { body: \"\" }"), "\(ios).alert.body: \"\" is empty; a sentence for the user"),
        (app("alert: { body: 1 }"), "\(ios).alert.body: 1 is not text"),
        (app("alert: { body: \"b\", title: \"\" }"), "\(ios).alert.title: \"\" is empty"),
        (
            app("alert: { body: \"b\", locKey: \"K\" }"),
            "\(ios).alert.locKey: stands beside body, in whose place it is; one of them"
        ),
        (
            app("alert: { body: \"b\", title: \"t\", titleLocKey: \"K\" }"),
            "\(ios).alert.titleLocKey: stands beside title, in whose place it is; one of them"
        ),
        (
            app("alert: { body: \"b\", locArgs: [\"1\"] }"),
            "\(ios).alert.locArgs: needs locKey, the text that they stand in"
        ),
        (
            app("alert: { body: \"b\", titleLocArgs: [] }"),
            "\(ios).alert.titleLocArgs: needs titleLocKey, the text that they stand in"
        ),
        (app("alert: { locKey: \"K\", locArgs: \"1\" }"), "\(ios).alert.locArgs: \"1\" is not a list"),
        (app("alert: { locKey: \"K\", locArgs: [\"1\", 2] }"), "\(ios).alert.locArgs[1]: 2 is not text"),
        (app("alert: { text: \"b\", body: \"b\" }"), "\(ios).alert.text: unknown key"),
        (app("sound: \"\""), "\(ios).sound: \"\" is empty"),
        (app("threadId: 5"), "\(ios).threadId: 5 is not text"),
        (app("threadId: \"\""), "\(ios).threadId: \"\" is empty"),
        (
            app("interruptionLevel: \"loud\""),
            "\(ios).interruptionLevel: \"loud\" is not an interruption level; \"passive\", \"active\" or \"time-sensitive\""
        ),
        (
            app("interruptionLevel: \"critical\""),
            "\(ios).interruptionLevel: \"critical\" is not sent: Apple, \"Critical alerts require a special entitlement issued "
                + "by Apple\"; \"passive\", \"active\" or \"time-sensitive\""
        ),
        (
            app("interruptionLevel: \"active\"", .android),
            "\(android).push.interruptionLevel: is for ios; FCM has nothing like it"
        ),
        (app("threadId: \"t\"", .android), "\(android).push.threadId: is for ios; FCM has nothing like it"),
        (
            app("alert: { title: \"T\", body: \"b\" }", .android),
            "\(android).push.alert: has a title or a key, which no phone shows: the push is data alone. Text alone, or "
                + "fcm.notification"
        ),
        (
            app("alert: { title: \"T\", body: \"b\" }", .android, "notification: { title: \"T\" }"),
            "\(android).fcm.notification.title: is said twice; push.alert has one"
        ),
    ]

    @Test(arguments: wrong.indices) func `What is wrong is named`(number: Int) throws {
        let (text, fault) = Self.wrong[number]
        let error = try #require(throws: ConfigurationError.self) { try read(text) }
        #expect(error.faults.count == 1)
        #expect(error.faults.first.map { "\($0.field): \($0.reason)" }?.hasPrefix(fault) == true, "\(error)")
    }
}
