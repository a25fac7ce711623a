// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

/// Each act of the API is refused where any fact that was shown is stale, with the facts that changed (DESIGN, rule 13).
@Suite("Acts carry what was confirmed, live", .ownThread)
struct ConfirmedActTests {
    /// Routes that change something and show nothing before, each with the reason. Any other one needs an act.
    private static let showsNothing: [String: String] = [
        "POST /v1/webhooks/version": "a machine's", "POST /v1/webhooks/github/{app}/{platform}": "a machine's",
        "POST /v1/webhooks/gitlab/{app}/{platform}": "a machine's",
        "POST /v1/webhooks/app-store-connect/{app}": "a machine's",
        "POST /v1/apps/{app}/{platform}/plan": "it changes nothing, and is what is shown",
        "POST /v1/apps/{app}/{platform}/test-push": "it names the device or the user that it goes to",
        "POST /v1/apps/{app}/{platform}/devices": "a machine's: each line names its device",
        "PUT /v1/apps/{app}/{platform}/devices/{token}": "an app's, of itself",
        "PATCH /v1/apps/{app}/{platform}/devices/{token}": "an app's, of itself",
        "POST /v1/session": "it begins something new", "DELETE /v1/session": "the caller's own",
        "DELETE /v1/sessions/{name}": "it names the session by an id of its own",
        "POST /v1/session/link": "it begins something new", "POST /v1/tokens": "it begins something new",
        "POST /v1/store/prune": "it names the moment itself", "PUT /v1/log": "it names the level itself",
        "POST /v1/reload": "it reads the file that is there",
        "POST /v1/approvals/{id}/approve": "the request holds what was shown, and is refused where that has changed",
        "POST /v1/approvals/{id}/refuse": "it names the request by an id of its own",
        "POST /v1/store/accept": "its body is what was shown: both marks of the store, compared in the transaction",
    ]

    @Test("each route that changes something is an act, or says why it shows nothing")
    func everyRoute() {
        for route in Route.all where route.method != "GET" {
            #expect((route.act == nil) == (Self.showsNothing[route.pattern] != nil), "\(route.pattern)")
        }
        let patterns = Set(Route.all.map(\.pattern))
        for pattern in Self.showsNothing.keys { #expect(patterns.contains(pattern), "there is no \(pattern)") }
        // Unblocking is another body of the withdrawal's route.
        #expect(Set(Route.all.compactMap(\.act)) == Set(ActKind.allCases).subtracting([.unblock]))
        for route in Route.all where route.method == "DELETE" {
            guard let act = route.act else { continue }
            #expect(act.facts.allSatisfy { route.parameters.contains($0.rawValue) }, "\(route.pattern)")
        }
    }

    private struct Scene {
        var method: String
        var path: String
        /// The members beside the confirmed facts.
        var body: [JSONMember]?
        var about: ActSubject
    }

    private static let app = "/v1/apps/com.example.app/ios"

    private static func text(_ name: String, _ value: String) -> JSONMember {
        JSONMember(name: name, value: .string(value))
    }

    /// The state before the act, and the request for it.
    private static func scene(_ act: ActKind, _ bench: Bench) throws -> Scene {
        try bench.store.register(
            (0..<20).map {
                DeviceRegistration(
                    app: Bench.app, token: "ab\(10 + $0)", telephone: $0 == 7 ? "138 " : "139", version: nil)
            }, at: Bench.now)
        func campaign(_ id: String, _ verb: String, after first: String? = nil) throws -> Scene {
            if let first { #expect(try bench.ask("POST", "/v1/campaigns/\(id)/\(first)").status == 200) }
            let key = try #require(try bench.store.campaign(id: id)).key
            return Scene(method: "POST", path: "/v1/campaigns/\(id)/\(verb)", body: [], about: .campaign(key))
        }
        switch act {
        case .raise:
            _ = try bench.campaign(required: "1.0")
            return Scene(
                method: "PUT", path: "\(app)/version", body: [text("required", "2.0")], about: .required(Bench.app))
        case .release:
            _ = try bench.canary(required: "2.0")
            return Scene(method: "POST", path: "\(app)/release", body: [], about: .release(Bench.app, nil, nil))
        case .withdraw:
            _ = try bench.campaign(required: "2.0")
            return Scene(
                method: "POST", path: "\(app)/withdraw", body: [text("required", "2.0")], about: .required(Bench.app))
        case .unblock:
            #expect(try bench.ask("PUT", "\(app)/version", #"{"blocked":["1.5"]}"#).status == 202)
            return Scene(
                method: "POST", path: "\(app)/withdraw",
                body: [JSONMember(name: "blocked", value: .array([.string("1.5")]))],
                about: .blocks(Bench.app, [try Version("1.5")]))
        case .pause: return try campaign(bench.campaign(required: "2.0"), "pause")
        case .resume: return try campaign(bench.campaign(required: "2.0"), "resume", after: "pause")
        case .approve: return try campaign(bench.canary(required: "2.0"), "approve")
        case .releaseCampaign: return try campaign(bench.canary(required: "2.0"), "release")
        case .cancel: return try campaign(bench.campaign(required: "2.0"), "cancel")
        case .retry: return try campaign(bench.campaign(required: "2.0"), "retry", after: "cancel")
        case .setAlert:
            #expect(try bench.ask("PUT", "\(app)/alert", #"{"message":"Back soon. "}"#).status == 200)
            return Scene(
                method: "PUT", path: "\(app)/alert", body: [text("message", "Back later.")], about: .alert(Bench.app))
        case .clearAlert:
            #expect(try bench.ask("PUT", "\(app)/alert", #"{"message":"Back soon. "}"#).status == 200)
            return Scene(method: "DELETE", path: "\(app)/alert", about: .alert(Bench.app))
        case .removeDevice:
            return Scene(
                method: "DELETE", path: "\(app)/devices/ab17", about: .device(Bench.app, token: "ab17"))
        case .eraseUser:
            return Scene(
                method: "DELETE", path: "/v1/users?telephone=139", about: .user("139", apps: [Bench.app]))
        case .revokeToken:
            #expect(try bench.ask("POST", "/v1/tokens", #"{"name":"ci","scopes":["status"]}"#).status == 201)
            return Scene(method: "DELETE", path: "/v1/tokens/ci", about: .accessToken("ci"))
        }
    }

    private static func send(_ scene: Scene, _ shown: Shown, _ bench: Bench) throws -> Answer {
        let carried = Shown.Fact.allCases.compactMap { fact in shown.facts[fact].map { (fact.rawValue, $0) } }
        guard let body = scene.body else {
            let pairs = carried.map { name, value in
                let text = value == .nothing ? "" : value.words
                return "\(name)=\(text.replacing(" ", with: "%20"))"
            }
            let query = pairs.isEmpty ? "" : (scene.path.contains("?") ? "&" : "?") + pairs.joined(separator: "&")
            return try bench.ask(scene.method, scene.path + query)
        }
        var writer = JSONWriter()
        writer.object { writer in
            for member in body {
                writer.name(member.name)
                writer.raw(member.value.bytes())
            }
            for (name, value) in carried { writer.member(name, value) }
        }
        return try bench.ask(scene.method, scene.path, String(decoding: writer.bytes, as: UTF8.self))
    }

    private static func stale(_ fact: Shown.Fact, _ value: Shown.Value) -> [Shown.Value] {
        switch value {
        case .nothing: fact.isNumber ? [.number(3)] : [.text("7.7.7")]
        case .number(let number): [.nothing, .number(number * 2 + 3)]
        case .text(let text):
            // White space alone makes another text.
            [.nothing, .text(fact == .version ? "7.7.7" : text.hasSuffix(" ") ? String(text.dropLast()) : text + " ")]
        }
    }

    @Test(
        "what was shown and differs is refused with what changed, and as it is it is done", arguments: ActKind.allCases)
    func stale(act: ActKind) throws {
        let bench = try Bench()
        let scene = try Self.scene(act, bench)
        let before = try bench.store.facts(scene.about, at: Bench.now)
        let shown = Shown(before.facts.filter { act.facts.contains($0.key) })
        #expect(Set(shown.facts.keys) == Set(act.facts))
        for fact in act.facts {
            for value in Self.stale(fact, shown.facts[fact] ?? .nothing) {
                // That fact alone, and with all the others.
                for rest in [Shown(), shown] {
                    var carried = rest
                    carried.facts[fact] = value
                    let answer = try Self.send(scene, carried, bench)
                    #expect(answer.status == 409, "\(act) \(fact) \(value): \(answer.body)")
                    #expect(answer.text("type") == "urn:upgrade-relay:stale-confirmation")
                    #expect(answer.count("changed") == 1 && answer.text("changed", "0", "field") == fact.rawValue)
                    let (then, now) = (answer.value("changed", "0", "shown"), answer.value("changed", "0", "now"))
                    // A phone number is masked, and so is what is almost the same.
                    #expect(then != nil && now != nil && (then != now || act == .removeDevice))
                    #expect(try bench.store.facts(scene.about, at: Bench.now) == before, "\(act) \(fact)")
                }
            }
        }
        // A fact that this act does not take is refused.
        for fact in Shown.Fact.allCases where !act.facts.contains(fact) {
            let answer = try Self.send(scene, Shown([fact: .number(1)]), bench)
            #expect(answer.status == 422, "\(act) takes no \(fact): \(answer.body)")
        }
        let done = try Self.send(scene, shown, bench)
        #expect((200..<300).contains(done.status), "\(act): \(done.body)")
    }

    @Test("what is left out goes by whatever is there", arguments: ActKind.allCases)
    func leftOut(act: ActKind) throws {
        let bench = try Bench()
        let done = try Self.send(try Self.scene(act, bench), Shown(), bench)
        #expect((200..<300).contains(done.status), "\(act): \(done.body)")
        // An answer without a body says nothing.
        let isEmpty = [ActKind.clearAlert, .removeDevice, .revokeToken].contains(act)
        #expect((done.status == 204) == isEmpty)
        let sentence = done.text("sentence") ?? ""
        let result = ActWords.Act.confirmed(act).done
        #expect(isEmpty || sentence.contains(": \(result)") && sentence.hasSuffix("."), "\(act): \(done.body)")
    }

    @Test("each act is documented with the sentence of its answer, and so is an answer that waits for a second person")
    func documented() throws {
        let empty = ["clearNotice", "clearAlert", "removeDevice", "revokeToken"]
        let acts = Set(Route.all.filter { $0.act != nil || $0.path.hasPrefix("/v1/approvals/{id}/") }.map(\.pattern))
        var names: Set<String> = []
        for entry in DocumentCheck.entries where acts.contains("\(entry.method) \(entry.path)") {
            let name = entry.operation["operationId"]?.text ?? ""
            names.insert(name)
            for answer in entry.operation["responses"]?.members ?? [] where answer.name.hasPrefix("2") {
                guard let media = answer.value["content"]?.members.first?.value else {
                    #expect(empty.contains(name), "\(name) \(answer.name)")
                    continue
                }
                guard let example = media["example"] else { continue }
                // A release of several platforms has one for each.
                let parts = example["platforms"]?.elements.map { $0["result"] } ?? [example]
                for part in parts { #expect(part?["sentence"]?.text != nil, "\(name) \(answer.name)") }
            }
        }
        #expect(names.count >= 15, "\(names)")
    }

    @Test("what an act takes back is what the answers show")
    func answers() throws {
        let bench = try Bench()
        let id = try bench.canary(required: "2.0")
        let key = try #require(try bench.store.campaign(id: id)).key
        for (path, member, about) in [
            ("/v1/campaigns/\(id)", "shown", ActSubject.campaign(key)),
            ("\(Self.app)/version", "shown", .required(Bench.app)),
            ("\(Self.app)/version", "releasable", .release(Bench.app, nil, nil)),
        ] {
            let answer = try bench.ask("GET", path)
            let facts = try bench.store.facts(about, at: Bench.now).facts
            #expect(answer.value(member)?.object?.count == facts.count)
            for (fact, value) in facts {
                var writer = JSONWriter()
                writer.value(value)
                #expect(answer.value(member, fact.rawValue)?.bytes() == writer.bytes, "\(path) \(fact)")
            }
        }
        #expect(try bench.ask("POST", "\(Self.app)/release").status == 200)
        #expect(try bench.ask("GET", "\(Self.app)/version").value("releasable") == .null)
    }

    @Test("confirm names what it confirms, and a refusal says what that would be")
    func confirm() throws {
        let bench = try Bench()
        _ = try bench.campaign(required: "2.0")
        func bump(_ confirm: String?) throws -> Answer {
            let more = confirm.map { #","confirm":\#($0)"# } ?? ""
            return try bench.ask("PUT", "\(Self.app)/version", #"{"required":"20.0"\#(more)}"#)
        }
        let refused = try bump(nil)
        #expect(refused.status == 409 && refused.text("type") == "urn:upgrade-relay:implausible-rise")
        let named = String(decoding: try #require(refused.value("confirm")).bytes(), as: UTF8.self)
        #expect(named == #"[{"reason":"implausible-rise","version":"20.0"}]"#)
        for other in [
            #"[{"reason":"implausible-rise","version":"21.0"}]"#, #"[{"reason":"nothing-above","version":"20.0"}]"#,
            "false", "[]",
        ] {
            #expect(try bump(other).status == 409, "\(other)")
        }
        for wrong in [
            #""yes""#, "1", "{}", #"[{"reason":"implausible-rise"}]"#, #"[{"reason":"all","version":"20.0"}]"#,
            #"[{"reason":"implausible-rise","version":"20.0","more":1}]"#,
            "[\(Array(repeating: #"{"reason":"nothing-above","version":"1"}"#, count: 23).joined(separator: ","))]",
        ] {
            #expect(try bump(wrong).status == 422, "\(wrong)")
        }
        #expect(try bump(named).status == 202)
    }
}
