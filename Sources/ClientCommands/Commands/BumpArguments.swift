// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Terminal
import UpgradeRules
import WireFormat

/// The options that make up a bump.
enum BumpArguments {
    static func body(_ arguments: ParsedArguments) throws -> JSONValue {
        var body: [JSONMember] = []
        func add(_ name: String, _ value: JSONValue) { body.append(JSONMember(name: name, value: value)) }
        for name in ["required", "latest"] {
            guard let text = arguments.value(name) else { continue }
            do {
                add(name, .string(try Version(text).text))
            } catch {
                throw UsageError("--\(name): \(error)")
            }
        }
        let builds = try ["required", "latest"].compactMap { name -> JSONMember? in
            guard let text = arguments.value("\(name)-build") else { return nil }
            guard let code = Int64(text), BuildNumbers.range.contains(code) else {
                throw UsageError(
                    "--\(name)-build: \"\(text)\" is not a version code; a whole number from 1 to "
                        + "\(BuildNumbers.range.upperBound)")
            }
            return JSONMember(name: name, value: .integer(code))
        }
        if !builds.isEmpty { add("builds", .object(builds)) }
        guard !body.isEmpty else { throw UsageError("--required VERSION is missing") }
        try refuseDownloadURL(as: arguments)
        if let url = arguments.value("download-url") { add("downloadUrl", .string(url)) }
        if let message = arguments.value("message") { add("message", .string(message)) }
        let telephones = arguments.values("canary") + arguments.values("telephone")
        if !telephones.isEmpty { add("telephones", .array(telephones.map(JSONValue.string))) }
        return .object(body)
    }

    /// A page of a store is not the daemon: a token from the environment must not go there.
    private static func refuseDownloadURL(as arguments: ParsedArguments) throws(UsageError) {
        guard let url = arguments.value("url"), arguments.value("token") == nil, isPage(url) else { return }
        throw UsageError(
            "--url is the daemon's address, and \"\(url)\" looks like a page",
            suggestion: "--download-url \(url)")
    }

    /// Whether there is a path behind scheme and host (RFC 3986, 3).
    private static func isPage(_ url: String) -> Bool { url.split(separator: "/").count > 2 }
}
