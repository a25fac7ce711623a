// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

/// A message by language, on every channel that knows the caller's.
@Suite("Languages, live", .ownThread)
struct LanguageLiveTests {
    private static let path = "/v1/check?app=com.example.app&platform=ios&version=1.9"
    private static let words = #"{"en":"From {requiredFrom} on","zh-Hans":"请更新","de":"Jetzt {requiredFrom}"}"#

    private static func bench(_ more: String = "") throws -> Bench {
        let bench = try Bench()
        let answer = try bench.ask(
            "PUT", ResourceLiveTests.version, #"{"required":"2.0","latest":"2.1","message":\#(words)\#(more)}"#)
        #expect(answer.status == 202, "\(answer.body)")
        return bench
    }

    @Test(
        "the check answers in the language that is asked for",
        arguments: [
            ("", nil, "From {requiredFrom} on"), ("", "de-AT, en;q=0.5", "Jetzt {requiredFrom}"),
            ("", "zh-Hans-CN", "请更新"),
            ("", "fr, de;q=0.1", "Jetzt {requiredFrom}"), ("", "zh-CN", "请更新"),
            ("", "*", "From {requiredFrom} on"),
            ("", "\u{1}q;;=", "From {requiredFrom} on"), ("&lang=zh-Hans_CN", "de", "请更新"),
            ("&lang=fr", "de", "From {requiredFrom} on"),
            ("&lang=%20", "de", "Jetzt {requiredFrom}"), ("&lang=*", "de", "From {requiredFrom} on"),
        ] as [(String, String?, String)])
    func check(query: String, header: String?, text: String) throws {
        let bench = try Self.bench()
        let headers = header.map { [("Accept-Language", $0)] } ?? []
        // HTTP does not allow this in a header, so that it never gets this far.
        guard header?.hasPrefix("\u{1}") != true else {
            #expect(LanguageRanges(header ?? "") == nil)
            return
        }
        let answer = try bench.askNetwork("GET", Self.path + query, headers: headers)
        #expect(answer.status == 200 && answer.text("body", "message") == text, "\(answer.body)")
        let isNamed = !query.isEmpty && query != "&lang=%20"
        #expect(answer[header: "vary"] == (isNamed ? nil : "Accept-Language"))
        let tag = try #require(answer[header: "etag"])
        let again = try bench.askNetwork("GET", Self.path + query, headers: headers + [("If-None-Match", tag)])
        #expect(again.status == 304 && again[header: "vary"] == answer[header: "vary"])
        let other = try bench.askNetwork(
            "GET", Self.path + "&lang=" + (text == "请更新" ? "en" : "zh-Hans"), headers: [("If-None-Match", tag)])
        #expect(other.status == 200, "another language is another answer")
    }

    @Test("one text alone hangs on no header")
    func oneText() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","message":"Now"}"#)
        let document = LaunchGateLiveTests.document
        for target in [Self.path, Self.path + "&lang=de", document, document + "?lang=de"] {
            let answer = try bench.askNetwork("GET", target, headers: [("Accept-Language", "de")])
            #expect(answer.status == 200 && answer[header: "vary"] == nil && answer.body.contains("Now"), "\(target)")
        }
    }

    @Test("a moment is named in each language")
    func moment() throws {
        let moment = Bench.now + .seconds(3600)
        let bench = try Self.bench(#","requiredFrom":"\#(moment.internetTime)""#)
        for (language, text) in [
            ("de", "Jetzt 14. November 2023, 23:13 UTC"), ("en", "From 14 November 2023, 23:13 UTC on"),
        ] {
            let answer = try bench.askNetwork("GET", Self.path + "&lang=\(language)")
            #expect(answer.text("body", "needUpgrade") == "0" && answer.text("body", "message") == text)
        }
        let document = try bench.askNetwork("GET", LaunchGateLiveTests.document + "?lang=de")
        #expect(document.text("ios", "optionalUpdate", "message") == "Jetzt 14. November 2023, 23:13 UTC")
    }

    @Test("a proxy's client is refused in its language, where the proxy hands that on")
    func enforce() throws {
        let bench = try Self.bench()
        let path = "/v1/enforce?app=com.example.app&platform=ios&version=1.9"
        for (more, header, text) in [
            ("", "zh-Hans-SG", "请更新"), ("&lang=zh-Hans", "de", "请更新"), ("", "fr", "From {requiredFrom} on"),
        ] {
            let answer = try bench.askNetwork("GET", path + more, headers: [("Accept-Language", header)])
            #expect(answer.status == 426 && answer.text("message") == text, "\(answer.body)")
            #expect(answer[header: "vary"] == (more.isEmpty ? "Accept-Language" : nil))
        }
    }

    @Test("the launch document, which has room for one text, is answered in one language")
    func document() throws {
        let bench = try Self.bench()
        _ = try bench.ask(
            "PUT", "/v1/apps/com.example.app/android/version",
            #"{"required":"7","builds":{"required":703},"message":{"*":"!","fr":"Maintenant"}}"#)
        for (more, header, ios, android) in [
            ("", "fr, de;q=0.5", "Jetzt {requiredFrom}", "Maintenant"),
            ("?lang=fr", "de", "From {requiredFrom} on", "Maintenant"),
            ("", "zh-Hans", "请更新", "!"), ("", "", "From {requiredFrom} on", "!"),
        ] {
            let answer = try bench.askNetwork(
                "GET", LaunchGateLiveTests.document + more, headers: header.isEmpty ? [] : [("Accept-Language", header)]
            )
            #expect(answer.text("ios", "requiredUpdate", "message") == ios, "\(answer.body)")
            #expect(answer.text("ios", "optionalUpdate", "message") == ios)
            #expect(answer.text("android", "requiredUpdate", "message") == android)
            #expect(answer[header: "vary"] == (more.isEmpty ? "Accept-Language" : nil))
        }
        #expect(try bench.askNetwork("GET", LaunchGateLiveTests.document + "?x=1").status == 422)
    }

    @Test("all of them are read back, in the history too; null where there is one text")
    func readBack() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","message":\#(Self.words)}"#)
        let first = try bench.ask("GET", ResourceLiveTests.version)
        #expect(first.text("message") == "From {requiredFrom} on")
        #expect(first.text("messages", "zh-Hans") == "请更新")
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","message":"Now"}"#)
        let second = try bench.ask("GET", ResourceLiveTests.version)
        #expect(second.text("message") == "Now" && second.body.contains(#""messages":null"#))
        #expect(second.body.contains("请更新"), "the history has it")
    }
}
