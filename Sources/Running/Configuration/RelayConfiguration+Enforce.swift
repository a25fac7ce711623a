// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

extension RelayConfiguration {
    static func readEnforce(_ reader: ConfigurationReader) -> EnforceRules {
        var rules = EnforceRules()
        if let headers = reader.object("headers") {
            rules.headers.app = headers.string("app", default: rules.headers.app, check: headerName)
            rules.headers.platform = headers.string("platform", default: rules.headers.platform, check: headerName)
            rules.headers.version = headers.string("version", default: rules.headers.version, check: headerName)
            rules.headers.system = headers.string("os", default: rules.headers.system, check: headerName)
            let names = rules.headers.all.map { $0.lowercased() }
            for (index, key) in ["platform", "version", "os"].enumerated()
            where names[...index].contains(names[index + 1]) {
                headers.fault(key, "\"\(names[index + 1])\" is another one's header already; a name for each")
            }
            headers.finish()
        }
        for (value, path) in reader.list("userAgents") {
            guard let agent = reader.reader(of: value, at: path) else { continue }
            if let agent = readAgent(agent) { rules.agents.append(agent) }
        }
        rules.unknown = reader.choice("unknown", default: rules.unknown, "what becomes of the unknown")
        reader.finish()
        return rules
    }

    private static func readAgent(_ reader: ConfigurationReader) -> EnforceRules.Agent? {
        let text = reader.requiredString("pattern", "how its User-Agent looks, such as \"ExampleApp/{version} *\"") {
            text in
            do throws(UserAgentPatternError) {
                _ = try UserAgentPattern(text)
                return nil
            } catch {
                return error.description
            }
        }
        let app = reader.requiredString("app", "which of the apps it is")
        let name = reader.requiredString("platform", "\"ios\" or \"android\"") { text in
            Platform(rawValue: text) == nil ? "is not a platform; \"ios\" or \"android\"" : nil
        }
        reader.finish()
        guard let pattern = try? UserAgentPattern(text), let platform = Platform(rawValue: name) else { return nil }
        return EnforceRules.Agent(pattern: pattern, app: AppKey(app: app, platform: platform))
    }

    /// The fault of a header's name, which must be a token (RFC 9110, section 5.1) and no field that the server itself uses.
    static func headerName(_ text: String) -> String? {
        let isToken = text.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
        }
        guard !text.isEmpty, text.utf8.count <= 64, isToken else { return "is not the name of a header" }
        let framing = ["host", "expect", "connection", "content-length", "transfer-encoding", "authorization"]
        return framing.contains(text.lowercased()) ? "says something else in every request; a name of its own" : nil
    }

    /// The faults of app names that are not configured: a mistyped name would let every version pass.
    func enforceFaults() -> [FieldFault] {
        let known = Set(apps.map(\.key))
        return enforce.agents.enumerated().filter { !known.contains($0.element.app) }.map { index, agent in
            FieldFault(
                "enforce.userAgents[\(index)].app",
                "\"\(agent.app.app)\" is not among the apps for \(agent.app.platform.rawValue)")
        }
    }
}
