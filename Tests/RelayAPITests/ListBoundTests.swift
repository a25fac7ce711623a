// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Signing
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import HTTPServer
@testable import RelayAPI

/// Every parser of a list from outside, with a list of four thousand members: its cost, and its answer.
@Suite("Bounds of lists from strangers", .serialized, .ownThread)
struct ListBoundTests {
    static let members = 4000
    #if DEBUG
        /// A debug build takes some twenty times as long.
        static let longest = Duration.milliseconds(60)
    #else
        static let longest = Duration.milliseconds(2)
    #endif

    static func list(_ member: String, _ separator: String, _ count: Int = members) -> String {
        Array(repeating: member, count: count).joined(separator: separator)
    }

    static func array(_ member: String, _ count: Int = members) -> String { "[\(list(member, ",", count))]" }

    static func object(_ count: Int, _ value: String = "0") -> String {
        "{\((0..<count).map { "\"k\($0)\":\(value)" }.joined(separator: ","))}"
    }

    static func head(_ fields: [(String, String)]) -> RequestHead {
        var head = RequestHead(method: "GET", target: "/")
        for (name, value) in fields { head.headers.append(name, value) }
        return head
    }

    /// Runs one parser on a list; the result is the fault that the client gets, or nil.
    static func parse(_ bound: ListBound) throws -> () -> (any Error)? {
        func thrown(_ body: @escaping () throws -> Void) -> () -> (any Error)? {
            { do { try body(); return nil } catch { return error } }
        }
        switch bound {
        case .queryParameters:
            let target = "/v1/check?" + list("a", "&")
            return thrown { _ = try RequestTarget(target) }
        case .pathSegments:
            let target = "/" + list("a", "/")
            return thrown { _ = try RequestTarget(target) }
        case .headerFields: return thrown(read("GET / HTTP/1.1\r\nHost: a\r\n" + list("x: y", "\r\n") + "\r\n\r\n"))
        case .connectionOptions:
            return thrown(read("GET / HTTP/1.1\r\nHost: a\r\nConnection: " + list("x", ",") + "\r\n\r\n"))
        case .acceptedTypes:
            let header = list("a/b;q=0.5", ",") + ",text/csv"
            return thrown { try refuseIf(ListForm.accepted(header, among: ListForm.allCases) != nil) }
        case .acceptedCodings:
            let header = list("br;q=1", ",") + ",gzip"
            return thrown { try refuseIf(PreparedContent.takesGzip(header)) }
        case .acceptedLanguages:
            let header = list("de-DE;q=0.9", ",") + ",fr"
            return thrown { try refuseIf(LanguageRanges(header)?.ranges.contains("fr") ?? false) }
        case .entityTags:
            let tag = EntityTag(of: [1])
            let header = list("\"x\"", ",") + "," + tag.text
            return thrown { try refuseIf(tag.isNamed(in: header)) }
        case .cookies:
            let head = head([("cookie", list("a=b", "; ") + "; upgrade_relay_session=x")])
            return thrown { try refuseIf(SessionCookie.secret(in: head, isSecure: false) != nil) }
        case .forwardedHops:
            let heads = [
                head([("x-forwarded-proto", "http," + list("https", ","))]),
                head([("forwarded", "proto=http;by=a," + list("proto=https", ","))]),
                head([("forwarded", list("a=b", ";", 4000) + ";proto=https")]),
            ]
            return thrown { try refuseIf(heads.contains(where: ForwardedProtocol.isTLS)) }
        case .proxyHops:
            let proxy = try PeerNetwork("10.0.0.0/8")
            let (peer, client) = (PeerAddress("10.0.0.1") ?? .none, PeerAddress("192.0.2.7"))
            let lists: [(ForwardedAddress, String)] = [
                (.forwardedFor, "192.0.2.7," + list("10.0.0.2", ",")),
                (.forwarded, "for=192.0.2.7," + list("for=10.0.0.2;proto=http", ",")),
                (.forwarded, "for=192.0.2.7;" + list("by=\"\\\"", ";")),
            ]
            return thrown {
                try refuseIf(lists.contains { $0.client(of: peer, $1, isTrusted: proxy.contains) == client })
            }
        case .groups:
            var rules = ProxyIdentity()
            rules.from = [try PeerNetwork("10.0.0.1")]
            rules.rights = ["last": [.status]]
            let groups = (0..<members).map { "g\($0)" }.joined(separator: ",") + ",last"
            var one = head([("x-forwarded-user", "ada"), ("x-forwarded-groups", groups)])
            one.peer = PeerAddress("10.0.0.1") ?? .none
            let located = rules.located(one)
            return thrown { try refuseIf(try rules.person(in: located)?.scopes.isEmpty != true) }
        case .webhookSignatures:
            let verifier = WebhookVerifier(secrets: [try WebhookSecret(Bench.secret)])
            let headers = WebhookHeaders([
                "webhook-id": "a", "webhook-timestamp": String(Bench.now.seconds),
                "webhook-signature": list("v1,aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=", " "),
            ])
            return thrown {
                guard case .refused = verifier.verify(headers, body: [1], at: Bench.now) else { throw Passed() }
            }
        case .formFields:
            let body = Array(list("a=b", "&").utf8)
            return thrown { _ = try FormFields(body) }
        case .jsonDepth:
            let body = Array(String(repeating: "[", count: members).utf8)
            return thrown { _ = try BodyFields(body) }
        case .jsonMembers:
            let body = Array(object(members).utf8)
            return thrown { _ = try BodyFields(body) }
        case .jsonValues:
            let body = Array("{\"a\":\(array("1", 5 * members))}".utf8)
            return thrown { _ = try BodyFields(body) }
        case .telephones:
            let body = Array("{\"telephones\":\(array("\"138\""))}".utf8)
            return thrown { _ = try BumpBody.read(body, app: Bench.app) }
        case .blockedVersions:
            let body = Array("{\"blocked\":\(array("\"1.0\""))}".utf8)
            return thrown { _ = try BumpBody.read(body, app: Bench.app) }
        case .languages:
            let body = Array("{\"message\":\(object(250, "\"x\""))}".utf8)
            return thrown { _ = try BumpBody.read(body, app: Bench.app) }
        // Parsed by the route that reads them.
        case .scopes, .apps:
            let name = bound.rawValue
            let other = bound == .scopes ? "" : ",\"scopes\":[\"status\"]"
            let body = Array("{\"name\":\"many\",\"\(name)\":\(array("\"status\""))\(other)}".utf8)
            let api = try Bench().server.api
            return thrown { _ = try api.createToken(body: body, by: .operatorOnSocket(user: nil)) }
        case .foreignValues:
            let answer = Array("{\"results\":\(array("{\"bundleId\":\"a\",\"version\":\"1\"}"))}".utf8)
            return thrown { _ = try JSONReader.read(answer) }
        case .foreignHeaderParts:
            let header = list("a:1", ";")
            return thrown { _ = AppStoreConnectRate(header) }
        case .namedFaults:
            let faults = (0..<members).map { FieldFault("telephones[\($0)]", "a string is needed; got the number 1") }
            return { ProblemDetails(faults: faults) }
        }
    }

    struct Passed: Error {}

    private static func refuseIf(_ wasRead: Bool) throws { if wasRead { throw Passed() } }

    private static func read(_ text: String) -> () throws -> Void {
        let bytes = Array(text.utf8)
        return {
            var reader = RequestReader(RequestRules(target: 8192, head: 1 << 20, handed: ["x"]))
            var rest = bytes.indices
            while true {
                switch reader.next(bytes, &rest) {
                case .refused(let refusal): throw ProblemDetails(refusal.status, refusal.detail)
                case .more, .end: return
                case .head, .body: continue
                }
            }
        }
    }

    private static func processorTime(_ body: () -> Void) -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let begun = now()
        body()
        return now() - begun
    }

    @Test("four thousand members cost little, and are answered by little", arguments: ListBound.allCases)
    func bounded(_ bound: ListBound) throws {
        let parse = try Self.parse(bound)
        var fault: (any Error)?
        // The thread's own processor time, and the best of seven: the machine has other work.
        let best = (0..<7).map { _ in Self.processorTime { fault = parse() } }.min() ?? .zero
        #expect(best < Self.longest, "\(bound)")
        #expect(!(fault is Passed), "\(bound): a member behind the bound was read")
        switch bound.beyond {
        case .refused(let status):
            let problem = fault.map(ProblemDetails.of)
            #expect(problem?.status == status, "\(bound) \(String(describing: fault))")
        case .passedOver, .failed: break
        }
        guard let fault else { return }
        guard case .bytes(let bytes) = ProblemDetails.of(fault).response.body else { return }
        #expect(bytes.count < ProblemDetails.longest, "\(bound): \(bytes.count) bytes")
    }

    @Test("what fits is read, to the last member")
    func whole() throws {
        let most = ListBound.queryParameters.limit
        #expect(try RequestTarget("/?" + Self.list("a=b", "&", most)).query.count == most)
        #expect(throws: RequestTarget.Fault.tooManyParameters) {
            try RequestTarget("/?" + Self.list("a=b", "&", most + 1))
        }
        #expect(try RequestTarget("/?" + Self.list("&", "&", 500) + "a=b").query.count == 1, "empty ones are none")
        let numbers = try JSONReader.read(Array(Self.object(ListBound.jsonMembers.limit).utf8))
        #expect(numbers["k255"] == .integer(0) && numbers["k17"] == .integer(0))
        for twice in [3, 16, 17, 200] {
            let text = Self.object(220).dropLast() + ",\"k\(twice)\":1}"
            #expect(throws: JSONSyntaxError.self, "\(twice)") { try JSONReader.read(Array(text.utf8)) }
        }
        let telephones = "{\"telephones\":\(Self.array("\"138\"", ListBound.telephones.limit))}"
        #expect(
            try BumpBody.read(Array(telephones.utf8), app: Bench.app).telephones?.count == ListBound.telephones.limit)
    }

    @Test("an answer of an error is small, whatever its texts hold")
    func answers() {
        for character in ["a", "\u{1}", "\"", "😀", "é", "\u{2028}"] {
            let long = String(repeating: character, count: 9000)
            for problem in [
                ProblemDetails(400, long), ProblemDetails(field: long, long),
                ProblemDetails(faults: (0..<40).map { FieldFault("f\($0)", long) }),
                {
                    var problem = ProblemDetails(409, long)
                    problem.extras = (0..<9).map { ("e\($0)", long) }
                    return problem
                }(),
            ] {
                guard case .bytes(let bytes) = problem.response.body else { continue }
                #expect(bytes.count < 4096, "\(bytes.count)")
                #expect((try? JSONReader.read(bytes))?["detail"]?.string?.isEmpty == false)
            }
        }
        let ten = ProblemDetails(
            faults: (0..<64).map { FieldFault("p\($0)", "is not a parameter of this request; there are none") })
        guard case .bytes(let bytes) = ten.response.body, let json = try? JSONReader.read(bytes) else { return }
        #expect(json["errors"]?.array?.count == 10 && json["detail"]?.string?.hasSuffix("; and more") == true)
    }

    /// Lists as long as a head may hold, of every kind, at every route, over a socket and without a token.
    @Test("every route answers a long list in its query, its headers and its body soon, and shortly")
    func everyRoute() throws {
        var limits = APILimits()
        limits.server.head = 16_384
        limits.server.target = 16_384
        var rules = EnforceRules()
        rules.agents = try ["*a*b*c/{version} *", String(repeating: "a*", count: 60) + "/{version}*x"].map {
            EnforceRules.Agent(pattern: try UserAgentPattern($0), app: Bench.app)
        }
        let bench = try Bench(limits: limits, enforce: rules)
        let campaign = try bench.campaign(required: "2.0.0")
        let headers = bench.server.api.headerNames.filter { !["host", "authorization"].contains($0) }
        for route in Route.all {
            let path = KeepingTests.path(of: route, campaign: campaign)
            let join = path.contains("?") ? "&" : "?"
            try Self.ask(
                bench, "\(route.method) \(path)\(join)\(Self.list("a", "&")) HTTP/1.1\r\nHost: a\r\n\r\n", route)
            let body = "{\"telephones\":\(Self.array("1"))}"
            try Self.ask(
                bench,
                "\(route.method) \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
                route)
            guard route.right == .nothing || route.right == .signature else { continue }
            // About the longest one that is looked at.
            let agent = "User-Agent: \(Self.list("a/1.", " ", 200))"
            try Self.ask(bench, "\(route.method) \(path) HTTP/1.1\r\nHost: a\r\n\(agent)\r\n\r\n", route)
            for header in headers {
                for (member, separator) in [("x", ","), ("x=y", ";"), ("x", " ")] {
                    try Self.ask(
                        bench,
                        "\(route.method) \(path) HTTP/1.1\r\nHost: a\r\n\(header): \(Self.list(member, separator))\r\n\r\n",
                        route)
                }
            }
        }
    }

    /// - Parameter request: sent so that its connection ends with the answer.
    private static func ask(_ bench: Bench, _ request: String, _ route: Route) throws {
        let client = try RawClient(port: bench.server.port ?? 0)
        let text = request.replacing(
            "\r\nHost: a\r\n", with: "\r\nHost: a\r\nConnection: close\r\n", maxReplacements: 1)
        var answer = ""
        let time = try ContinuousClock().measure {
            try client.send(text)
            answer = try client.receiveAll()
        }
        // Includes the way there and back, on a machine that has other work.
        #expect(time < .milliseconds(500), "\(route.pattern)")
        let status = answer.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        if status >= 400 || status == 0 {
            #expect(answer.utf8.count < 4096, "\(route.pattern) \(status): \(answer.utf8.count) bytes")
        }
        #expect(status > 0, "\(route.pattern) \(request.prefix(120))")
    }

    // MARK: A parser that is added

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Files that split only the relay's own texts or bounded ones, each with the reason.
    private static let ownTexts = [
        "Serving/RelayAPI/RequestFigures.swift": "a route's pattern", "Serving/RelayAPI/Router.swift": "a route's path",
        "Serving/RelayAPI/Login/UserAgentPattern.swift": "the owner's pattern; a header has `longestHeader` bytes",
        "Base/WireFormat/ListBound.swift": "the one that bounds",
        "Rules/UpgradeRules/Languages/LanguageAlias.swift": "a tag, or a range of a member of 128 bytes",
        "Rules/UpgradeRules/Languages/LanguageTag.swift": "a tag of `maximumLength`",
        "Rules/UpgradeRules/Languages/LanguageRanges.swift": "a member of 128 bytes",
        "Base/WireFormat/TextPattern.swift": "the program's own patterns",
        "Integrations/VersionSources/SourceFigures.swift": "a source's own name",
    ]

    @Test("no room that reads what strangers write cuts a text up without a bound")
    func noneIsForgotten() throws {
        let rooms = [
            "Serving/HTTPServer", "Serving/RelayAPI", "Serving/StatusPage", "Base/Signing/Webhooks", "Base/WireFormat",
            "Integrations/VersionSources",
            "Rules/UpgradeRules/Languages",
        ]
        var seen = 0
        for room in rooms {
            let folder = Self.root.appending(path: "Sources/\(room)")
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                let name = String(file.path.dropFirst(Self.root.appending(path: "Sources").path.count + 1))
                let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                for line in lines where line.contains(".split") || line.contains("components(separatedBy") {
                    seen += 1
                    #expect(
                        line.contains("maxSplits") || Self.ownTexts[name] != nil,
                        "\(name): \(line.trimmingCharacters(in: .whitespaces)): let a ListBound cut it, or say here whose text it is"
                    )
                }
            }
        }
        #expect(seen > 10)
    }

    @Test("the guide has each bound as the program has it")
    func table() throws {
        let guide = try String(contentsOf: Self.root.appending(path: "SECURITY.md"), encoding: .utf8)
        let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| `") }
        for bound in ListBound.allCases {
            let more =
                switch bound.beyond {
                case .refused(let status): "\(status)"
                case .passedOver: "passed over"
                case .failed: "the source has failed"
                }
            let row = rows.first { $0.hasPrefix("| `\(bound.rawValue)` | ") }
            #expect(
                row?.hasSuffix(" | \(bound.limit) | \(more) |") == true,
                "| `\(bound.rawValue)` | … | \(bound.limit) | \(more) |")
        }
        #expect(rows.count == ListBound.allCases.count)
    }
}
