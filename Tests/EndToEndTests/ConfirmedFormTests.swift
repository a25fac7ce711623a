// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import TestPeers
import Testing
import WireFormat

/// The page's forms with the daemon itself: a form does what its page showed, once, and nothing else (FAULTS 3.3).
@Suite(.serialized, .ownThread) struct ConfirmedFormTests {
    private struct Page {
        let origin: String
        let cookie: String
        var formToken = ""

        init(_ bench: Workbench) throws {
            origin = "http://\(try #require(bench.relay).address)"
            let made = try CommandResult.of(
                ["tokens", "create", "--name", "p\(UUID().uuidString.prefix(8))", "--json"]
                    + ["status", "versions", "devices", "campaigns"].flatMap { ["--scope", $0] }
                    + ["--config", bench.path("config.json5")])
            let token = try #require(try JSONReader.read(Array(made.output.utf8))["token"]?.string)
            var request = HTTPRequest("POST", origin + "/v1/session")
            request.headers = [(name: "Authorization", value: "Bearer \(token)")]
            let answer = try HTTPClient().send(request)
            cookie = String(try #require(answer["set-cookie"]).prefix { $0 != ";" })
            formToken = try #require(try JSONReader.read(answer.body)["formToken"]?.string)
        }

        func ask(_ path: String) throws -> (status: Int, text: String) { try send("GET", path, nil) }

        /// Posts the fields of the form as the page showed it, with `more` over them.
        func post(_ path: String, _ form: [(String, String)], _ more: [(String, String)] = []) throws -> (
            status: Int, text: String
        ) {
            let names = Set(more.map(\.0))
            let fields = [("formToken", formToken)] + form.filter { !names.contains($0.0) } + more
            func encoded(_ text: String) -> String {
                text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            return try send(
                "POST", path, fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&"))
        }

        /// The form's hidden fields, without its token.
        static func hidden(_ text: String) -> [(String, String)] {
            text.matches(of: /type="hidden" name="([A-Za-z]+)" value="([^"]*)"/).map { (String($0.1), String($0.2)) }
                .filter { $0.0 != "formToken" }
        }

        func form(_ path: String) throws -> [(String, String)] { Self.hidden(try ask(path).text) }

        private func send(_ method: String, _ path: String, _ body: String?) throws -> (status: Int, text: String) {
            var request = HTTPRequest(method, origin + path)
            request.headers = [(name: "Cookie", value: cookie), (name: "Sec-Fetch-Site", value: "same-origin")]
            if let body {
                request.body = Array(body.utf8)
                request.headers.append((name: "Content-Type", value: "application/x-www-form-urlencoded"))
            }
            let answer = try HTTPClient().send(request)
            return (answer.status, String(decoding: answer.body, as: UTF8.self))
        }
    }

    private static let app = "/page/apps/\(Workbench.app)/ios"

    @Test func theSameFormApprovesOneWave() throws {
        let bench = try Workbench(iosKeys: "pace: { waves: [10, 30, 60, 100], betweenWaves: { approval: true } },")
        try bench.start()
        try bench.register(Fleet(count: 600))
        let answer = try bench.api(
            "PUT", "/v1/apps/\(Workbench.app)/ios/version", body: Array(#"{"required":"2.0.0"}"#.utf8))
        let id = try bench.campaign(of: answer)
        func until(_ wave: Int) throws {
            _ = try bench.follow(id) { $0.reason?.hasPrefix("WaveDone: wave \(wave) of 4") == true }
        }
        try until(1)
        let page = try Page(bench)
        let path = "/page/campaigns/\(id)/resume"
        let form = try page.form(path)
        #expect(form.contains { $0 == ("ifWave", "2") } && form.contains { $0 == ("ifState", "suspended") })
        #expect(try page.post(path, form).status == 303)
        try until(2)
        for _ in 1...2 {
            let again = try page.post(path, form)
            #expect(again.status == 409 && again.text.contains("Nothing was done"))
            #expect(Page.hidden(again.text).contains { $0 == ("ifWave", "3") }, "it is asked anew, of the next wave")
        }
        #expect(try bench.view(id).reason?.hasPrefix("WaveDone: wave 2 of 4") == true)
        #expect(try bench.command("campaigns", "resume", id, "--yes").status == 0)
        try until(3)
    }

    @Test func aReleaseIsOfTheVersionThatWasShown() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 30))
        let later = Date.now.addingTimeInterval(86_400).formatted(.iso8601)
        func ask(_ version: String) throws {
            let body = #"{"required":"\#(version)","requiredFrom":"\#(later)"}"#
            _ = try bench.campaign(
                of: bench.api("PUT", "/v1/apps/\(Workbench.app)/ios/version", body: Array(body.utf8)))
        }
        try ask("2.0.0")
        let page = try Page(bench)
        let path = Self.app + "/release"
        let form = try page.form(path)
        #expect(form.contains { $0 == ("ifVersion", "2.0.0") })
        try ask("2.1.0")
        let stale = try page.post(path, form)
        #expect(stale.status == 409 && stale.text.contains("Nothing was done"), "\(stale.text.suffix(600))")
        #expect(Page.hidden(stale.text).contains { $0 == ("ifVersion", "2.1.0") })
        func inForce() throws -> Any? {
            try bench.api("GET", "/v1/apps/\(Workbench.app)/ios/version").json["inForce"]
        }
        #expect(try inForce() as? String == nil)
        #expect(try page.post(path, Page.hidden(stale.text)).status == 303)
        #expect(try inForce() as? String == "2.1.0")
        // The version below it is superseded, so nothing waits now.
        #expect(try page.post(path, Page.hidden(stale.text)).status == 409)
    }

    @Test func whoIsErasedIsWhoWasShownByteForByte() throws {
        let bench = try Workbench()
        try bench.start()
        for (number, telephone) in ["13800000001", "13800000001 "].enumerated() {
            let token = String(repeating: "0", count: 63) + "\(number + 1)"
            let answer = try bench.api(
                "PUT", "/v1/apps/\(Workbench.app)/ios/devices/\(token)",
                body: Array(#"{"telephone":"\#(telephone)","version":"1.0.0"}"#.utf8))
            #expect(answer.status == 201)
        }
        func known(_ telephone: String) throws -> Int {
            let path = "/v1/devices?telephone=\(telephone.replacing(" ", with: "%20"))"
            return (try bench.api("GET", path).json["items"] as? [Any])?.count ?? -1
        }
        let page = try Page(bench)
        let path = "/page/users/erase"
        let question = try page.ask(path + "?telephone=13800000001%20")
        let form = Page.hidden(question.text)
        #expect(form.contains { $0 == ("telephone", "13800000001 ") } && form.contains { $0 == ("ifDevices", "1") })
        let other = try page.post(path, form, [("again", "13800000001")])
        #expect(other.status == 422, "another number was typed")
        #expect(try [known("13800000001"), known("13800000001 ")] == [1, 1])
        #expect(try page.post(path, form, [("again", "13800000001 "), ("ifDevices", "3")]).status == 409)
        #expect(try page.post(path, form, [("again", "13800000001 ")]).status == 200)
        #expect(try [known("13800000001"), known("13800000001 ")] == [1, 0])
        // White space typed around a number that has none is ignored.
        let plain = try page.form(path + "?telephone=13800000001")
        #expect(try page.post(path, plain, [("again", " 13800000001 ")]).status == 200)
        #expect(try known("13800000001") == 0)
    }

    /// Every form of the page × each value that it carries.
    @Test func noFormActsByWhatWasNotShown() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 30))
        let later = Date.now.addingTimeInterval(86_400).formatted(.iso8601)
        let id = try bench.campaign(
            of: bench.api(
                "PUT", "/v1/apps/\(Workbench.app)/ios/version",
                body: Array(#"{"required":"2.0.0","requiredFrom":"\#(later)","blocked":["0.9"]}"#.utf8)))
        let page = try Page(bench)
        let telephone = try #require(Fleet(count: 30).devices.compactMap(\.telephone).first)
        var forms: [(path: String, question: String, more: [(String, String)])] = ["release", "cancel"].map {
            ("/page/campaigns/\(id)/\($0)", "/page/campaigns/\(id)/\($0)", [("app", Workbench.app)])
        }
        forms.append((Self.app + "/release", Self.app + "/release", []))
        forms.append((Self.app + "/withdraw", Self.app + "/withdraw", [("app", Workbench.app)]))
        forms.append((Self.app + "/unblock", Self.app + "/unblock?version=0.9", [("app", Workbench.app)]))
        forms.append(("/page/users/erase", "/page/users/erase?telephone=\(telephone)", [("again", telephone)]))
        func state() throws -> String {
            let version = try bench.api("GET", "/v1/apps/\(Workbench.app)/ios/version").json
            let history = version["history"] as? [Any] ?? []
            return
                "\(version["required"] ?? "") \(version["inForce"] ?? "") \(version["blocked"] ?? "") \(history.count) "
                + (try bench.view(id).state)
        }
        let before = try state()
        for (path, question, more) in forms {
            let form = try page.form(question)
            let carried = form.filter { $0.0.hasPrefix("if") }
            #expect(!carried.isEmpty, "\(path) carries nothing")
            for (name, value) in carried {
                for other in [value + "7", "", "7.7.7"] where other != value {
                    let answer = try page.post(path, form, more + [(name, other)])
                    #expect(answer.status == 409, "\(path) with \(name)=\(other): \(answer.status)")
                    #expect(Page.hidden(answer.text).contains { $0 == (name, value) }, "\(path) asks anew")
                }
                let without = form.filter { $0.0 != name }
                #expect(try page.post(path, without, more).status == 409, "\(path) without \(name)")
            }
        }
        #expect(try state() == before)
    }
}
