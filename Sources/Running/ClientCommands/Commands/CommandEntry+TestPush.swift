// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

extension CommandEntry {
    static let testPush = client(
        "test-push",
        tokenIsDevice: true
    ) { run in
        let telephone = run.arguments.value("telephone")
        let device = run.arguments.value("device") ?? run.connection.deviceToken
        guard (telephone == nil) != (device == nil) else {
            throw UsageError("one of --telephone and --token (with --url: --device) is needed")
        }
        let body: JSONValue = [
            "telephone": telephone.map(JSONValue.string), "token": device.map(JSONValue.string),
            "environment": run.arguments.value("environment").map(JSONValue.string),
        ]
        let reply = try await run.client().reply(
            to: APIRequest("POST", AppArguments.path(run.arguments, "test-push"), json: body))
        run.show(reply.text, reply.items.map(answer).joined(separator: "\n"))
        return reply.items.allSatisfy { $0.shown(.state) == "accepted" } ? .done : .failed
    }

    private static func answer(_ item: JSONValue) -> String {
        var fields = [
            ("device", item.shown(.token)), ("phone number", item.shown(.telephone, or: "-")),
            ("server", "\(item.shown(.server)) (\(item.shown(.environment)))"),
            (
                "answer",
                [item.shown(.state), item.shown(.status), item.shown(.reason)].filter { !$0.isEmpty }
                    .joined(separator: " ")
            ),
            ("push id", item.shown(.apnsId)),
        ]
        if !item.shown(.remedy).isEmpty { fields.append(("what to do", item.shown(.remedy))) }
        return TextTable.fields(fields)
    }
}
