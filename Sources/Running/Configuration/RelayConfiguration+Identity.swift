// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayStore
import UpgradeRules
import WireFormat

extension RelayConfiguration {
    /// The most addresses and networks, and the most groups: each request is compared with them.
    private static let mostProxies = 64
    private static let mostGroups = 256

    /// `listen.page.identity`: nil after a fault, so that no header is believed by half a rule.
    static func readIdentity(_ reader: ConfigurationReader) -> ProxyIdentity? {
        var identity = ProxyIdentity()
        let known = reader.faults.list.count
        identity.headers.name = reader.string("header", default: identity.headers.name, check: identityHeader)
        identity.headers.groups = reader.string(
            "groupsHeader", default: identity.headers.groups, check: identityHeader)
        if identity.headers.lowercasedNames.count < identity.headers.all.count {
            reader.fault(
                "groupsHeader", "\"\(identity.headers.groups)\" is the header of the name already; another one")
        }
        identity.address = reader.choice(
            "addressHeader", default: identity.address, "the header with the client's address")
        identity.from = readProxies(reader)
        identity.rights = readRights(reader)
        reader.finish()
        return reader.faults.list.count == known ? identity : nil
    }

    private static func identityHeader(_ text: String) -> String? {
        if let fault = headerName(text) { return fault }
        let others = ["cookie", "origin", "sec-fetch-site", "forwarded", "x-forwarded-for", "x-forwarded-proto"]
        return others.contains(text.lowercased()) ? "says something else in every request; a name of its own" : nil
    }

    private static func readProxies(_ reader: ConfigurationReader) -> [PeerNetwork] {
        let list = reader.list("from")
        if list.isEmpty {
            reader.fault("from", "missing; the addresses of the proxies that sign people in, such as [\"127.0.0.1\"]")
        }
        if list.count > mostProxies {
            reader.fault("from", "has at most \(mostProxies) addresses; it has \(list.count)")
        }
        return list.compactMap { value, path in
            guard let text = value.string else {
                reader.fault(at: path, "\(value.held) is not text")
                return nil
            }
            do throws(PeerNetwork.Fault) {
                return try PeerNetwork(text)
            } catch {
                reader.fault(at: path, "\(value.held) \(error)")
                return nil
            }
        }
    }

    /// The right of each group. The owner chooses the groups' names, so the object is one value of the configuration.
    private static func readRights(_ reader: ConfigurationReader) -> [String: Grant] {
        let path = reader.path(of: "rights")
        reader.note(at: path, .scopesOfGroups)
        guard let value = reader.raw("rights"), let groups = value.object, !groups.isEmpty else {
            let held = reader.raw("rights").map { "\($0.held) names no group" } ?? "missing"
            reader.fault(
                "rights", "\(held); the scopes of each group, such as { operators: [\"status\", \"campaigns\"] }")
            return [:]
        }
        reader.settle(at: path, value)
        if groups.count > mostGroups {
            reader.fault("rights", "has at most \(mostGroups) groups; it has \(groups.count)")
        }
        var rights: [String: Grant] = [:]
        for group in groups {
            let place = placeOfRights(of: group.name)
            if let fault = groupFault(group.name) { reader.fault(at: place, fault) }
            rights[group.name] = grant(group.value, at: place, reader)
        }
        return rights
    }

    static func placeOfRights(of group: String) -> String {
        "listen.page.identity.rights[\(JSONValue.quoted(group, columns: 60))]"
    }

    /// A list of scopes, for all apps; or `{ scopes, apps }`, for some of them.
    private static func grant(_ value: JSONValue, at place: String, _ reader: ConfigurationReader) -> Grant {
        guard let members = value.object else { return Grant(scopes(value, at: place, reader)) }
        var grant = Grant([])
        for member in members where !["scopes", "apps"].contains(member.name) {
            reader.fault(at: "\(place).\(member.name)", "unknown key; a group has scopes, and apps that it is bound to")
        }
        if let value = value["scopes"] {
            grant.scopes = scopes(value, at: "\(place).scopes", reader)
        } else {
            reader.fault(at: "\(place).scopes", "missing; a list of scopes, such as [\"status\", \"campaigns\"]")
        }
        guard let value = value["apps"] else { return grant }
        let path = "\(place).apps"
        guard let names = value.array else {
            reader.fault(at: path, "\(value.held) is not a list of apps, such as [\"com.example.app\"]")
            return grant
        }
        grant.apps = appNames(names.enumerated().map { ($1, "\(path)[\($0)]") }, at: path, reader)
        return grant
    }

    /// The fault of a group's name: one that no header can send.
    private static func groupFault(_ name: String) -> String? {
        if name.contains(",") { return "a group's name has no comma: the header has commas between its groups" }
        if name.isEmpty || name.first == " " || name.last == " " {
            return "a group's name is not empty, and has no space around it"
        }
        if name.utf8.count > ListBound.longestMember {
            return "a group's name has at most \(ListBound.longestMember) bytes; it has \(name.utf8.count)"
        }
        return PlainText.fault(in: name, lines: false).map { "a group's name \($0)" }
    }

    private static func scopes(_ value: JSONValue, at path: String, _ reader: ConfigurationReader) -> Set<Scope> {
        let words = Scope.allCases.map { "\"\($0.rawValue)\"" }
        guard let names = value.array, !names.isEmpty else {
            reader.fault(
                at: path, "\(value.held) is not a list of scopes; of \(ConfigurationReader.alternatives(words))")
            return []
        }
        var scopes: Set<Scope> = []
        for (index, name) in names.enumerated() {
            if let scope = name.string.flatMap(Scope.init(rawValue:)) {
                scopes.insert(scope)
            } else {
                reader.fault(
                    at: "\(path)[\(index)]", "\(name.held) is not a scope; \(ConfigurationReader.alternatives(words))")
            }
        }
        return scopes
    }
}

extension ProxyIdentity.Headers {
    /// Names of headers are compared without their case (RFC 9110, section 5.1).
    fileprivate var lowercasedNames: Set<String> { Set(all.map { $0.lowercased() }) }
}
