// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements
import Terminal
import UpgradeRules
import WireFormat

/// The options that make up a bump.
enum BumpArguments {
    static func body(_ arguments: ParsedArguments) throws -> JSONValue {
        func text(_ name: String, _ spell: (String) throws -> String) throws -> JSONValue? {
            do {
                return try arguments.value(name).map { .string(try spell($0)) }
            } catch {
                throw UsageError("--\(name): \(error)")
            }
        }
        func version(_ name: String) throws -> JSONValue? { try text(name) { try Version($0).text } }
        func build(_ name: String) throws -> JSONValue? {
            let problem = "is not a version code; a whole number from 1 to \(BuildNumbers.range.upperBound)"
            return try arguments.parsed("\(name)-build", else: problem) { text in
                Int64(text).flatMap { BuildNumbers.range.contains($0) ? .integer($0) : nil }
            }
        }
        let (required, latest) = (try version("required"), try version("latest"))
        let builds: JSONValue = ["required": try build("required"), "latest": try build("latest")]
        let terms: [JSONMember] = try RequirementField.allCases.compactMap { field in
            let value =
                field.isMoment
                ? try arguments.parsed(field.option, else: ZonedMoment.problem) {
                    ZonedMoment($0).map { .string($0.moment.internetTime) }
                } : try text(field.option, field.spelt)
            return value.map { JSONMember(name: field.name.description, value: $0) }
        }
        let blocked = try arguments.values("blocked").map { text throws(UsageError) in
            do {
                return JSONValue.string(try Version(text).text)
            } catch {
                throw UsageError("--blocked: \(error)")
            }
        }
        guard
            !blocked.isEmpty || required != nil || latest != nil || builds != [:] || !terms.isEmpty
        else {
            throw UsageError(
                "nothing is named that would change: give --required VERSION, or one of --latest, "
                    + RequirementField.allCases.map { "--\($0.option), " }.joined()
                    + "--required-build, --latest-build")
        }
        try refuseDownloadURL(as: arguments)
        let telephones = (arguments.values("canary") + arguments.values("telephone")).map(JSONValue.string)
        let body: JSONValue = [
            "required": required, "latest": latest, "builds": builds == [:] ? nil : builds,
            "downloadUrl": arguments.value("download-url").map(JSONValue.string),
            "message": try message(arguments.values("message")),
            "now": arguments.flag("now") ? .bool(true) : nil, "blocked": blocked.isEmpty ? nil : .array(blocked),
            "telephones": telephones.isEmpty ? nil : .array(telephones),
        ]
        return .object((body.object ?? []) + terms)
    }

    /// A single text is taken as it is: it may hold "=". Among several, each names its language.
    static func message(_ texts: [String]) throws(UsageError) -> JSONValue? {
        guard texts.count > 1 else { return texts.first.map(JSONValue.string) }
        var members: [JSONMember] = []
        for text in texts {
            guard let end = text.firstIndex(of: "="),
                text[..<end] == LocalizedText.others || LanguageTag(text[..<end]) != nil
            else {
                throw UsageError(
                    "--message: \"\(JSONValue.shortened(text))\" names no language; of several each does, such as "
                        + "--message en=… --message zh-Hans=…, and *=… is for all others")
            }
            let name = String(text[..<end])
            guard !members.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw UsageError("--message: \"\(name)\" is given twice")
            }
            members.append(JSONMember(name: name, value: .string(String(text[text.index(after: end)...]))))
        }
        return .object(members)
    }

    /// Refuses a `--url` that looks like a store's page: a token from the environment must not be sent there.
    private static func refuseDownloadURL(as arguments: ParsedArguments) throws(UsageError) {
        guard let url = arguments.value("url"), arguments.value("token") == nil, isPage(url) else { return }
        throw UsageError(
            "--url is the daemon's address, and \"\(url)\" looks like a page",
            suggestion: "--download-url \(url)")
    }

    /// Whether there is a path behind scheme and host (RFC 3986, 3).
    private static func isPage(_ url: String) -> Bool { url.split(separator: "/").count > 2 }
}
