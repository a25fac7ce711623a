// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@Suite("Bump bodies")
struct BumpBodyTests {
    static let app = AppKey(app: "com.example.app", platform: .ios)

    @Test("a whole webhook body")
    func whole() throws {
        let bump = try BumpBody.Webhook(
            Array(
                """
                {"app": "com.example.app", "platform": "ios", "latest": "2.1.0", "required": "2.0.0",
                 "downloadUrl": "https://apps.apple.com/app/id1", "message": "Zwei\\nZeilen \\ud83d\\ude80",
                 "telephones": ["13800138000", "13800138000"]}
                """.utf8)
        ).bump()
        #expect(
            bump
                == VersionBump(
                    app: Self.app, latest: try Version("2.1.0"), required: try Version("2.0.0"),
                    downloadURL: "https://apps.apple.com/app/id1", message: "Zwei\nZeilen 🚀",
                    telephones: ["13800138000", "13800138000"]))
    }

    @Test("null means left out")
    func nulls() throws {
        let bump = try BumpBody.read(
            Array(#"{"required": "2", "latest": null, "telephones": null}"#.utf8), app: Self.app)
        #expect(bump == VersionBump(app: Self.app, required: try Version("2")))
    }

    @Test("what a version runs on and from when it is required; null forgets them")
    func systemsAndMoments() throws {
        let text = #"{"required": "2", "minimumOs": "15.0", "requiredFrom": "2026-12-01T09:00:00+08:00"}"#
        let bump = try BumpBody.read(Array(text.utf8), app: Self.app)
        #expect(bump.minimumOS == .set(try Version("15.0")))
        #expect(bump.requiredFrom == .set(Timestamp(internetTime: "2026-12-01T01:00:00Z")))
        let nulls = try BumpBody.read(Array(#"{"minimumOs": null, "requiredFrom": null}"#.utf8), app: Self.app)
        #expect(nulls.minimumOS == .set(nil) && nulls.requiredFrom == .set(nil))
    }

    @Test(
        "a message by language has a default: what \"*\" says, else \"en\"",
        arguments: [
            (#"{"en": "Now", "zh-Hans": "请"}"#, "Now", ["en": "Now", "zh-Hans": "请"]),
            (#"{"zh-Hans": "请", "EN": "Now"}"#, "Now", ["EN": "Now", "zh-Hans": "请"]),
            (#"{"de": "Jetzt", "en": "Now", "*": "!"}"#, "!", ["de": "Jetzt", "en": "Now"]),
            (#"{"*": "a=b"}"#, "a=b", [:]), (#""en=Now""#, "en=Now", [:]),
        ])
    func languages(message: String, text: String, translations: [String: String]) throws {
        let bump = try BumpBody.read(Array(#"{"required": "2", "message": \#(message)}"#.utf8), app: Self.app)
        #expect(bump.message?.text == text)
        let read = bump.message?.translations.map { ($0.language.text, $0.text) } ?? []
        #expect(Dictionary(uniqueKeysWithValues: read) == translations)
    }

    @Test("of a message in too many languages, and too long in one")
    func manyLanguages() throws {
        func message(_ count: Int) -> [UInt8] {
            let members = (0..<count).map { "\"x-\($0)\":\"m\"" }.joined(separator: ",")
            return Array("{\"message\":{\"en\":\"m\",\(members)}}".utf8)
        }
        #expect(try BumpBody.read(message(99), app: Self.app).message?.translations.count == 100)
        let many = #expect(throws: BodyError.self) { try BumpBody.read(message(100), app: Self.app) }
        #expect(many == .fields([FieldFault("message", "has at most 100 languages; it had 101")]))
        let long = #"{"message":{"en":"m","de":"\#(String(repeating: "ü", count: 1001))"}}"#
        let fault = #expect(throws: BodyError.self) { try BumpBody.read(Array(long.utf8), app: Self.app) }
        #expect(fault == .fields([FieldFault("message.de", "has at most 1000 characters; it had 1001")]))
    }

    /// Bodies, each with the field of its one fault and the fault's text.
    static let faults: [(String, String, String)] = [
        (
            #"{"requiredFrom": "2026-12-01 09:00"}"#, "requiredFrom",
            "a moment with its offset is needed, such as \"2026-12-01T09:00:00+08:00\" or \"2026-12-01T01:00:00Z\"; got "
                + "\"2026-12-01 09:00\""
        ),
        (#"{"minimumOs": 15}"#, "minimumOs", "a string is needed, such as \"2.1.0\"; got the number 15"),
        (
            #"{"telephones": [13800138000]}"#, "telephones[0]",
            "a string is needed, such as \"13800138000\"; got the number 13800138000"
        ),
        (
            #"{"telephones": "1"}"#, "telephones",
            "an array of strings is needed, such as [\"13800138000\"]; got \"1\""
        ),
        (#"{"telephones": []}"#, "telephones", "is empty; leave it out to mean everyone"),
        (#"{"telephones": ["1", ""]}"#, "telephones[1]", "must not be empty"),
        (#"{"telephones": ["1\n2"]}"#, "telephones[0]", "must not hold the control character U+000A"),
        (#"{"telephones": ["1\u009b2J"]}"#, "telephones[0]", "must not hold the control character U+009B"),
        (#"{"message": "\u0085"}"#, "message", "must not hold the control character U+0085"),
        (#"{"message": "Now\u202e"}"#, "message", "must not hold the control character U+202E"),
        (
            #"{"downloadUrl": "https://a/\u0090"}"#, "downloadUrl",
            "must not hold the control character U+0090"
        ),
        (#"{"required": 2}"#, "required", "a string is needed, such as \"2.1.0\"; got the number 2"),
        (#"{"required": true}"#, "required", "a string is needed, such as \"2.1.0\"; got true"),
        (
            #"{"latest": "2.x"}"#, "latest",
            "\"2.x\" is not a version: \"x\" at position 3 is neither a digit nor a dot"
        ),
        (
            #"{"required": "1", "requred": "2"}"#, "requred",
            "is not a field of this body; the fields are latest, required, downloadUrl, message, telephones, builds, blocked, minimumOs, requiredFrom, confirm, now"
        ),
        (
            #"{"downloadUrl": "apps.apple.com"}"#, "downloadUrl",
            "an absolute URL is needed, such as \"https://apps.apple.com/app/id1173193999\"; got \"apps.apple.com\""
        ),
        (#"{"message": ""}"#, "message", "must not be empty"),
        (
            #"{"message": 2}"#, "message",
            "a string is needed, such as \"A new version is required.\", or an object with one for each language, such as "
                + "{\"en\": \"A new version is required.\"}; got the number 2"
        ),
        (
            #"{"message": {}}"#, "message",
            "names no language; leave it out to say what the configuration says"
        ),
        (
            #"{"message": {"en": null}}"#, "message.en",
            "a string is needed, such as \"A new version is required.\"; got null"
        ),
        (#"{"message": {"en": ""}}"#, "message.en", "must not be empty"),
        (
            #"{"message": {"en": "m", "en_US": "m"}}"#, "message.en_US",
            "is not a language; a tag as in RFC 5646 is needed, such as en, zh-Hans or pt-BR, or * for all others"
        ),
        (
            #"{"message": {"en": "m", "zh-Hans": "m", "ZH-hans": "m"}}"#, "message.ZH-hans",
            "is the language \"zh-Hans\" once more: upper and lower case make no difference"
        ),
        (
            #"{"message": {"de": "m", "en-US": "m"}}"#, "message",
            "has no text for users of other languages; add \"en\", or \"*\" for all others"
        ),
        (
            #"{"builds": {"latest": 1.5}}"#, "builds.latest",
            "a version code is needed, a whole number from 1 to 2147483647; got the number 1.5"
        ),
        (
            #"{"builds": {"latest": 1e400}}"#, "builds.latest",
            "a version code is needed, a whole number from 1 to 2147483647; got the number 1e400"
        ),
        (
            #"{"builds": {"latest": 2, "newest": null}}"#, "builds.newest",
            "is not a field here; the fields are latest, required"
        ),
        (
            #"{}"#, "required",
            "the body changes nothing; give at least one of latest, required, downloadUrl, message, "
                + "telephones, builds, blocked, minimumOs, requiredFrom"
        ),
        (#"[]"#, "body", "an object is needed; got an array"),
    ]

    @Test("each fault names its field, what it held and what would be right", arguments: faults)
    func fault(body: String, field: String, reason: String) throws {
        #expect(throws: BodyError.fields([FieldFault(field, reason)])) {
            try BumpBody.read(Array(body.utf8), app: Self.app)
        }
    }

    @Test("a whole number is one however it is written", arguments: ["200", "200.0", "2e2"])
    func wholeNumbers(text: String) throws {
        let bump = try BumpBody.read(Array(#"{"builds": {"required": \#(text)}}"#.utf8), app: Self.app)
        #expect(bump.builds.required == 200)
    }

    @Test("all faults are told at once")
    func several() {
        let body = #"{"app": 1, "platform": "windows", "required": "", "downloadUrl": null, "x": 1}"#
        do throws(BodyError) {
            _ = try BumpBody.Webhook(Array(body.utf8)).bump()
            Issue.record("taken")
        } catch {
            guard case .fields(let faults) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(faults.map(\.field) == ["app", "platform", "required", "x"])
        }
    }

    @Test(
        "download URLs",
        arguments: [
            ("https://example.com", true), ("itms-apps://itunes.apple.com/app/id1", true),
            ("http://example.com", false), ("javascript:alert(1)", false), ("JavaScript:alert(1)", false),
            ("ftp://example.com/app.apk", false), ("intent://x", false), ("data:text/html,x", false),
            ("itms-services:?action=download-manifest", true), ("market://details?id=a", true),
            ("HTTPS://example.com/a?b=c", true), ("MARKET://x", true), ("https://", false),
            ("https:/example.com", false), ("https://user:pw@example.com/", false), ("https://user@example.com", false),
            ("https://example.com/@user", true), ("https://example.com?a=b@c", true),
            ("https://?x", false), ("//example.com", false), ("1ttp://x", false), (":x", false), ("x:", false),
            ("https://exa mple.com", false), ("", false),
            // A combining mark after the colon or a slash.
            ("x:\u{338}", true), ("https://\u{338}", false), ("https:/\u{338}/a", false),
        ])
    func downloadURLs(text: String, isGood: Bool) {
        let schemes = ["itms-apps", "itms-services", "market", "x"]
        #expect((DownloadURL.fault(in: text, schemes: schemes) == nil) == isGood)
    }

    @Test(
        "without a word from the configuration, https alone", arguments: ["itms-apps://x", "ftp://x", "javascript:x"])
    func schemes(url: String) throws {
        #expect(
            throws: BodyError.fields([
                FieldFault("downloadUrl", DownloadURL.fault(in: url) ?? "")
            ])
        ) {
            try BumpBody.read(Array(#"{"downloadUrl": "\#(url)"}"#.utf8), app: Self.app)
        }
        #expect(DownloadURL.fault(in: url)?.contains("its scheme must be https; got \"\(url)\"") == true)
    }

    @Test("a URL of 2048 characters is the longest")
    func longURL() {
        let start = "https://example.com/"
        #expect(DownloadURL.fault(in: start + String(repeating: "a", count: 2048 - start.count)) == nil)
        // The length is that of the URL as it is sent: six characters for each of these.
        #expect(DownloadURL.fault(in: start + String(repeating: "ü", count: 338)) == nil)
        #expect(DownloadURL.fault(in: start + String(repeating: "ü", count: 339)) != nil)
        #expect(DownloadURL.fault(in: start + String(repeating: "a", count: 2049 - start.count)) != nil)
    }

    @Test("a confirmation is none by itself", arguments: [("true", true), ("false", false), ("null", false)])
    func confirmation(text: String, isConfirmed: Bool) throws {
        let bump = try BumpBody.read(Array(#"{"required": "20", "confirm": \#(text)}"#.utf8), app: Self.app)
        #expect(bump.isConfirmed == isConfirmed)
        #expect(throws: BodyError.self) {
            try BumpBody.read(Array(#"{"confirm": \#(text)}"#.utf8), app: Self.app)
        }
    }
}
