// SPDX-License-Identifier: Apache-2.0
import Foundation
import SeedApps
import Testing
import UpgradeRules

@Suite struct UpgradePayloadTests {
    static let url = "https://apps.apple.com/app/id1173193999?mt=8&uo=4"

    static func payload(
        type: String = "mddy_needUpgrade", alert: String = "A new version is required.", url: String = url,
        sound: String? = nil, required: Version? = nil, build: Int64? = nil
    ) -> UpgradePayload {
        UpgradePayload(
            type: type, alert: alert, downloadURL: url, sound: sound, required: required, build: build)
    }

    // MARK: The shape

    @Test func isWhatTheClientReads() throws {
        #expect(
            String(decoding: Self.payload().render(userTelephone: "13800138000"), as: UTF8.self)
                == #"{"aps":{"alert":"A new version is required."},"page":{"type":"mddy_needUpgrade","#
                + #""userTel":"13800138000","downloadUrl":"https://apps.apple.com/app/id1173193999?mt=8&uo=4"}}"#)
        #expect(
            String(
                decoding: Self.payload(alert: "a", url: "u", sound: "default").render(userTelephone: "1"), as: UTF8.self
            )
                == #"{"aps":{"alert":"a","sound":"default"},"page":{"type":"mddy_needUpgrade","#
                + #""userTel":"1","downloadUrl":"u"}}"#)
        let named = Self.payload(alert: "a", url: "u", required: try Version("2.01"), build: 200)
        #expect(
            String(decoding: named.render(userTelephone: "1"), as: UTF8.self)
                == #"{"aps":{"alert":"a"},"page":{"type":"mddy_needUpgrade","#
                + #""userTel":"1","downloadUrl":"u","required":"2.01","build":200}}"#)
        #expect(
            named.sharedSize == Self.payload(alert: "a", url: "u").sharedSize + #","required":"2.01","build":200"#.count
        )
    }

    // MARK: Titles and keys

    private static func words(_ change: (inout PushWords) -> Void) -> PushWords {
        var words = PushWords("A \"b\"", sound: "ping")
        change(&words)
        return words
    }

    private static let shapes: [(words: PushWords, aps: String)] = [
        (words { _ in }, #""alert":"A \"b\"","sound":"ping""#),
        (
            words { $0.title = "T\n" },
            #""alert":{"title":"T\n","body":"A \"b\""},"sound":"ping""#
        ),
        (
            words { $0.appBody = .init(key: "K") },
            #""alert":{"loc-key":"K"},"sound":"ping""#
        ),
        (
            words {
                $0.appTitle = .init(key: "T", arguments: ["1", "\""])
                $0.appBody = .init(key: "K", arguments: ["é"])
                $0.sound = nil
            },
            #""alert":{"title-loc-key":"T","title-loc-args":["1","\""],"loc-key":"K","loc-args":["é"]}"#
        ),
        (
            words {
                $0.interruptionLevel = .timeSensitive
                $0.threadID = "up\\grade"
            },
            #""alert":"A \"b\"","sound":"ping","interruption-level":"time-sensitive","thread-id":"up\\grade""#
        ),
    ]

    @Test(arguments: shapes.indices)
    func saysWhatApplesTableHas(shape: Int) throws {
        let (words, aps) = Self.shapes[shape]
        let payload = UpgradePayload(type: "y", words: words, downloadURL: "u")
        let body = payload.render(userTelephone: "1")
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"aps":{"# + aps + #"},"page":{"type":"y","userTel":"1","downloadUrl":"u"}}"#)
        #expect(payload.size(userTelephone: "1") == body.count)
        #expect(try JSONSerialization.jsonObject(with: Data(body)) is [String: Any])
        // The message of a bump takes the place of the body or of its key, and of nothing else.
        let said = words.saying("Now!")
        #expect(said.body == "Now!" && said.appBody == nil)
        #expect(
            (said.title, said.appTitle, said.sound, said.threadID) == (
                words.title, words.appTitle, words.sound, words.threadID
            ))
        #expect(words.saying(nil) == words)
        // A payload that does not fit is refused, whichever field is long.
        var long = words
        long.threadID = String(repeating: "x", count: 4_096)
        #expect(throws: PayloadError.self) {
            try UpgradePayload(type: "y", words: long, downloadURL: "u").checked(longestTelephone: 11)
        }
    }

    // MARK: Whom it is for

    static let telephones = [
        "13800138000", "+8613800138000", "+86 138 0013 8000", "13800138000 ", " 13800138000", "13800138000\n", "",
        "１３８００１３８０００", "caf\u{E9}", "cafe\u{301}", "\u{212B}", "\u{C5}", "📞", "👍🏽", "👍", "a\"b", "a\\b", "a\\\"b",
        "\\u0031", "\",\"downloadUrl\":\"https://evil.example\",\"x\":\"", "\u{0}", "\u{1}", "\t", "\u{7F}", "\u{80}",
        "\u{2028}", "\u{2029}", "\u{FEFF}1", "1\u{FEFF}", "\u{FEFF}", "\u{FFFD}", "\u{FFFF}", "\u{10FFFF}", "1/2",
        "null", "1.0", "1",
    ]

    @Test(arguments: [nil, "default", "Upgrade \"now\".caf"])
    func isTakenByItsUserAndDroppedByEveryOther(sound: String?) {
        let payload = Self.payload(
            alert: "升级 \"now\"\n📲", sound: sound, required: sound == nil ? nil : Version.zero, build: 1)
        for telephone in Self.telephones {
            let body = payload.render(userTelephone: telephone)
            for user in Self.telephones {
                var client = SeedClient(userTelephone: user)
                let reaction = client.receive(body)
                if Array(user.utf16) == Array(telephone.utf16) {
                    #expect(reaction == .accepted(alert: payload.alert, downloadURL: payload.downloadURL))
                    #expect(client.coreAction() == .force(downloadURL: payload.downloadURL))
                } else {
                    #expect(
                        reaction == .dropped(.otherUser), "\(telephone.debugDescription) for \(user.debugDescription)")
                    #expect(client.coreAction() == .none)
                }
            }
            var nobody = SeedClient(userTelephone: nil)
            #expect(nobody.receive(body) == .dropped(.noUserLoggedIn))
            var otherApp = SeedClient(userTelephone: telephone, pushType: "needUpgrade")
            #expect(otherApp.receive(body) == .dropped(.otherType))
        }
    }

    // MARK: Escaping

    /// Every Unicode scalar as telephone, and those up to U+03FF in all places of the payload, read back by Foundation.
    @Test func survivesEveryScalar() throws {
        var scalars = String.UnicodeScalarView()
        var gathered = 0  // scalars.count walks the text
        var checked = 0
        func check() throws {
            let text = String(scalars)
            let shared = gathered == 1 ? text : "same for all"
            let object = try #require(
                try JSONSerialization.jsonObject(
                    with: Data(
                        Self.payload(type: shared, alert: shared, url: shared, sound: shared)
                            .render(userTelephone: text)))
                    as? [String: [String: String]])
            for (part, field) in [
                ("aps", "alert"), ("aps", "sound"), ("page", "type"), ("page", "userTel"), ("page", "downloadUrl"),
            ] {
                let read = try #require(object[part]?[field])
                let same = Array(read.utf8) == Array((field == "userTel" ? text : shared).utf8)
                #expect(same, "\(field) near U+\(String(text.unicodeScalars.first?.value ?? 0, radix: 16))")
            }
            #expect(object["aps"]?.count == 2 && object["page"]?.count == 3)
            checked += gathered
            gathered = 0
            scalars.removeAll(keepingCapacity: true)
        }
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            scalars.append(scalar)
            gathered += 1
            // Small pieces where escaping happens, large ones where it does not.
            if gathered == (value < 0x400 ? 1 : 4096) { try check() }
        }
        try check()
        #expect(checked == 0x110000 - 0x800, "all scalars there are")
    }

    @Test(arguments: [
        ("\"", #"\""#), ("\\", #"\\"#), ("\u{8}", #"\b"#), ("\t", #"\t"#), ("\n", #"\n"#), ("\u{C}", #"\f"#),
        ("\r", #"\r"#),
        ("\u{0}", #"\u0000"#), ("\u{B}", #"\u000b"#), ("\u{1F}", #"\u001f"#), ("\u{10}", #"\u0010"#),
        ("\r\n", #"\r\n"#),
        (" ", " "), ("\u{7F}", "\u{7F}"), ("/", "/"), ("é", "é"), ("\u{2028}", "\u{2028}"), ("\u{2029}", "\u{2029}"),
        ("\u{FEFF}", #"\ufeff"#), ("1\u{FEFF}", #"1\ufeff"#),
        ("😀", "😀"), ("", ""), ("a\"é\"b", #"a\"é\"b"#),
    ])
    func escapesWhatRFC8259Wants(text: String, escaped: String) {
        var output: [UInt8] = []
        UpgradePayload.appendEscaped(text.utf8, to: &output)
        #expect(output == Array(escaped.utf8))
        #expect(UpgradePayload.escapedSize(text.utf8) == escaped.utf8.count)
        let arena = Array("\"<\(text)>\"".utf8)
        output = [0x21]
        UpgradePayload.appendEscaped(arena, 2..<arena.count - 2, to: &output)
        #expect(output == Array("!\(escaped)".utf8), "the arena's form appends the same, and only its range")
    }

    @Test(
        arguments: [
            ([0x31, 0xFF, 0x32], "1\u{FFFD}2"), ([0xC3], "\u{FFFD}"), ([0x31, 0x80], "1\u{FFFD}"),
            ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"), ([0xFF, 0x22], "\u{FFFD}\\\""),
        ] as [([UInt8], String)])
    func repairsBytesThatAreNotUTF8(bytes: [UInt8], repaired: String) throws {
        var output: [UInt8] = []
        UpgradePayload.appendEscaped(bytes, 0..<bytes.count, to: &output)
        #expect(output == Array(repaired.utf8))
        #expect(UpgradePayload.escapedSize(bytes) == output.count)
    }

    @Test func hotPathRendersTheSame() {
        let payload = Self.payload(alert: "升级", sound: "default")
        for telephone in Self.telephones {
            let arena = Array("before\"\(telephone)\"after".utf8)
            var body = Array("kept".utf8)
            payload.append(userTelephone: arena, 7..<arena.count - 6, to: &body)
            #expect(body == Array("kept".utf8) + payload.render(userTelephone: telephone))
        }
    }

    // MARK: Size

    @Test func sizeIsTheRenderedSize() {
        let payload = Self.payload(alert: "升\u{1}级\"")
        for telephone in Self.telephones {
            #expect(payload.size(userTelephone: telephone) == payload.render(userTelephone: telephone).count)
        }
        #expect(payload.sharedSize == payload.render(userTelephone: "").count)
        #expect(payload.roomForTelephone == 4096 - payload.sharedSize)
    }

    @Test(arguments: ["a", "é", "升", "📲", "\"", "\u{1}"])
    func borderIsExactly4096(filler: String) throws {
        let telephone = "13800138000"
        let empty = Self.payload(alert: "").size(userTelephone: telephone)
        let each = UpgradePayload.escapedSize(filler.utf8)
        let room = 4096 - empty
        let fits = String(repeating: filler, count: room / each) + String(repeating: "x", count: room % each)
        let largest = Self.payload(alert: fits)
        #expect(largest.render(userTelephone: telephone).count == 4096)
        #expect(try largest.checked(longestTelephone: 11) == largest)
        #expect(throws: PayloadError.tooLarge(size: 4097, limit: 4096)) { try largest.checked(longestTelephone: 12) }
        let over = Self.payload(alert: fits + "x")
        #expect(over.render(userTelephone: telephone).count == 4097)
        #expect(throws: PayloadError.tooLarge(size: 4097, limit: 4096)) { try over.checked(longestTelephone: 11) }
    }

    @Test func refusesWhatTheClientWouldDrop() {
        #expect(throws: PayloadError.empty(field: "type")) { try Self.payload(type: "").checked(longestTelephone: 11) }
        #expect(throws: PayloadError.empty(field: "alert")) {
            try Self.payload(alert: "").checked(longestTelephone: 11)
        }
        #expect(throws: PayloadError.empty(field: "downloadUrl")) {
            try Self.payload(url: "").checked(longestTelephone: 11)
        }
        var client = SeedClient(userTelephone: "1")
        #expect(client.receive(Self.payload(url: "").render(userTelephone: "1")) == .dropped(.noDownloadURL))
    }

    @Test func errorsSayWhatToDo() {
        #expect(
            PayloadError.tooLarge(size: 4100, limit: 4096).description
                == "the payload would have 4100 bytes and may have 4096; "
                + "shorten the alert or the download URL by 4 bytes")
        #expect(
            PayloadError.empty(field: "downloadUrl").description
                == "downloadUrl is empty; a push needs a type, an alert and a download URL, or the app drops it")
    }
}
