// SPDX-License-Identifier: Apache-2.0
import OwnThread
import Testing
import WireFormat

@testable import PushSimulator

/// A service that the frame does not name: a header of its own, forms, pushes to several devices, and an answer of 200 that
/// names the dead ones.
@Suite(.serialized, .ownThread) struct NewServiceTests {
    private static let kind = ServiceKind(
        name: "Stork", reasons: [.gone, .noKey, .busy],
        words: ServiceWords(
            deadToken: .gone, badToken: .gone, foreignToken: .gone, tooMany: .busy, internalError: .busy,
            unavailable: .busy),
        headers: [.key], maximumStreams: 10)

    private func server(_ faults: FaultScript = FaultScript()) throws -> RunningSimulator {
        let service = SimulatedService(Self.kind, customer: "secret") { _ in StorkRules(key: "secret") }
        var configuration = SimulatorConfiguration(service)
        configuration.faults = faults
        return try RunningSimulator(configuration)
    }

    private func push(_ server: RunningSimulator, key: String, _ options: [String]) throws -> String {
        let form = "application/x-www-form-urlencoded"
        return try server.curl(
            [(":path", "/send"), ("stork-key", key), ("content-type", form)], payload: "to=a%2Cb%2Cc&text=hello",
            options: options
        ).output
    }

    @Test(arguments: [["--http2"], ["--http1.1"]]) func theRefusedOfSeveralTargetsAreNamed(options: [String]) throws {
        var script = FaultScript()
        script.deadTokens = ["b"]
        let server = try server(script)
        let answer = try push(server, key: "secret", options)
        #expect(answer.contains(" 200 "))
        #expect(answer.hasSuffix(#"{"code":0,"bad":[{"place":1,"code":"7"}]}"#), "\(answer)")
        #expect(try push(server, key: "another", options).hasSuffix(#"{"code":"9"}"#))
        let figures = server.simulator.figures
        #expect(figures.requests == 2 && figures.accepted == 2 && figures.rejectedBy == ["7": 1, "9": 1])
        #expect(figures.distinctTokens == 2 && figures.distinctIDs == 2 && figures.duplicates == 0)
    }

    @Test func aTokenIsRefusedWithA200() throws {
        let server = try server()
        #expect(try server.curl([(":path", "/token")]).output.hasSuffix(#"{"code":"9"}"#))
        let figures = server.simulator.figures
        #expect(figures.requests == 0 && figures.tokenRequests == 1 && figures.tokenRefusals == 1)
    }

    @Test func aWordThatTwoServicesShareIsReadAsItsOwn() throws {
        // The word "7" as another service might have it.
        var script = FaultScript()
        script.shares = [.rejection(RejectionReason("7", 503)): 1]
        script.tokenReasons = ["a": RejectionReason("8", 503)]
        #expect(script.problem(for: Self.kind)?.field == nil)
        let server = try server(script)
        #expect(try push(server, key: "secret", ["--http2"]).hasPrefix("HTTP/2 200"))
        script.tokenReasons = ["a": .unregistered]
        let problem = try #require(script.problem(for: Self.kind))
        #expect(problem.field == "tokenReasons.a" && problem.reason == #"is "Unregistered"; Stork has 7, 9, 8"#)
    }
}

extension RejectionReason {
    fileprivate static let gone = RejectionReason("7", 200)
    fileprivate static let noKey = RejectionReason("9", 200)
    fileprivate static let busy = RejectionReason("8", 503)
}

extension KnownHeader {
    fileprivate static let key = KnownHeader("stork-key", own: 0)
}

private final class StorkRules: ServiceRules {
    private let key: [UInt8]
    private var targets: [String] = []

    init(key: String) { self.key = Array(key.utf8) }

    var firstStreams: Int? { nil }
    var credentials: Int { 0 }

    func begin(_ slot: StreamSlot) { slot.ensureID() }

    /// The endpoint for a token refuses everything, with a 200.
    func answerToOther(_ slot: StreamSlot, now: Int64, under judge: RequestJudge) -> PushAnswer? {
        guard slot.headers[.path]?.elementsEqual("/token".utf8) == true else { return nil }
        let answer = PushAnswer(reason: .noKey, isPush: false)
        writeBody(of: answer, into: slot)
        return answer
    }

    func verdict(
        on slot: StreamSlot, credential: inout ConnectionCredential, now: Int64, under judge: RequestJudge
    ) -> Verdict {
        guard slot.headers[.key]?.elementsEqual(key) == true else { return .rejected(.noKey) }
        let form = OAuthForm.read(slot.payload, slot.headers[.contentType])
        targets = form?["to"]?.split(separator: ",").map(String.init) ?? []
        return .each(targets.count)
    }

    func target(_ place: Int, of slot: StreamSlot) -> UInt64 { ShortHash.ofToken(targets[place].utf8) }

    func writeBody(of answer: PushAnswer, into slot: StreamSlot) {
        if let reason = answer.reason {
            slot.body += JSONValue.object([JSONMember(name: "code", value: .string(reason.rawValue))]).bytes()
            return
        }
        let bad = slot.refusals.map { refusal -> JSONValue in
            ["place": .integer(refusal.place), "code": .string(refusal.reason.rawValue)]
        }
        let json: JSONValue = ["code": .integer(0), "bad": .array(bad)]
        slot.body += json.bytes()
    }

    func field(of answer: PushAnswer) -> AnswerHeader { .json }

    func record(_ slot: StreamSlot, into line: inout JSONWriter) {}

    func goAwayText(_ reason: String) -> [UInt8] { Array(reason.utf8) }

    func scriptChanged() {}
}
