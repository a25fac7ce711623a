// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// The commands around the web page: a link to it, and a campaign's report as a file.
extension CommandEntry {
    static let page = request(
        "page",
        request: { _ in APIRequest("POST", ["v1", "session", "link"]) },
        note: { "It signs in once, until \($0.shown(.expiresAt)), with an operator's rights.\n" },
        text: { "\($1.shown(.url))\n" })

    static let campaignsReport = client("campaigns report") { run in
        let path = try run.arguments.require("output")
        let file = try BackupFile(path, replaces: run.arguments.flag("force"))
        let id = try run.arguments.require("ID")
        let request = APIRequest("GET", ["v1", "campaigns", id, "report"], accept: "text/html")
        let answer = try await run.client().transport.send(request)
        guard answer.isSuccess else { throw Problem(answer).failure }
        try file.create()
        try file.append(answer.body)
        try file.finish()
        let size = Int64(answer.body.count)
        run.show(
            ["file": .string(path), "size": .integer(size)],
            "\(DisplayWidth.sanitised(path)): \(Quantity.bytes(size))\n")
        return .done
    }
}
