// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
package import RelayStore
import Signing
import WireFormat

/// The owner's rules for people whom a proxy before the relay signs in (`listen.page.identity`). Pure.
///
/// The proxy's headers are believed for connections from its addresses alone; from any other address they are refused. They
/// count at the network's door for the page and its API, never at the control socket.
package struct ProxyIdentity: Sendable, Hashable {
    /// The names of the headers. The server hands over no others, so they are those of the start.
    package struct Headers: Sendable, Hashable {
        /// The person's name.
        package var name = "X-Forwarded-User"
        /// The person's groups, with commas between them.
        package var groups = "X-Forwarded-Groups"

        package init() {}

        package var all: [String] { [name, groups] }

        var lowercased: Headers {
            var names = self
            (names.name, names.groups) = (name.lowercased(), groups.lowercased())
            return names
        }
    }

    /// The name in `rights` that stands for every person.
    package static let everyone = "*"

    package var headers = Headers()
    /// The header with the client's address.
    package var address = ForwardedAddress.forwardedFor
    /// The proxies.
    package var from: [PeerNetwork] = []
    /// The scopes of each group, and the apps that it is bound to.
    package var rights: [String: Grant] = [:]

    package init() {}

    func trusts(_ peer: PeerAddress) -> Bool { from.contains { $0.contains(peer) } }

    /// The head with the client's address in place of the proxy's, where a proxy of `from` hands it on.
    func located(_ head: RequestHead) -> RequestHead {
        guard head.door == .network, trusts(head.peer) else { return head }
        var head = head
        head.proxy = head.peer
        head.peer = address.client(of: head.peer, head.headers[address.header], isTrusted: trusts)
        return head
    }

    /// The person whom the proxy names; nil: it names none.
    ///
    /// - Parameter head: as `located` returned it.
    /// - Throws: a 403 where the header comes from elsewhere, a 400 where it names no one person.
    func person(in head: RequestHead) throws(ProblemDetails) -> ProxiedPerson? {
        let fields = headers.lowercased
        guard head.door == .network, let name = head.headers[fields.name] else { return nil }
        guard head.proxy != nil else {
            throw ProblemDetails(
                403,
                "the header \(headers.name) is taken from a proxy of listen.page.identity.from alone; "
                    + "this request comes from \(head.peer.description)")
        }
        for (field, shown) in [(fields.name, headers.name), (fields.groups, headers.groups)]
        where head.headers.isRepeated(field) {
            throw ProblemDetails(
                400, "the header \(shown) came twice: the proxy must replace a client's own, not add to it")
        }
        // A proxy that copies the name of a person who has not signed in sends nothing.
        if name.isEmpty { return nil }
        if let fault = Self.fault(in: name) {
            throw ProblemDetails(400, "the name in the header \(headers.name) \(fault)")
        }
        let groups = Self.groups(in: head.headers[fields.groups] ?? "")
        let grants = ([Self.everyone] + groups).compactMap { rights[$0] }
        return ProxiedPerson(name: name, groups: groups, grants: Grants(grants))
    }

    private static func fault(in name: String) -> String? {
        // Bytes that are no UTF-8 became this character, so two names could become one.
        if name.unicodeScalars.contains("\u{FFFD}") { return "is not UTF-8" }
        return ActedFor.fault(in: name)
    }

    /// Each group once, in the order of the header.
    private static func groups(in list: String) -> [String] {
        var groups: [String] = []
        for member in ListBound.groups.members(of: list) where member.utf8.count <= ListBound.longestMember {
            let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
            guard let end = member.lastIndex(where: { !blank($0) }) else { continue }
            let group = String(member[...end].drop(while: blank))
            // "*" is a name of `rights`, not a group: its rights are everybody's in any case.
            if group != everyone, !groups.contains(group) { groups.append(group) }
        }
        return groups
    }
}

/// A person whom a proxy has signed in, with the rights that the groups of this request give.
package struct ProxiedPerson: Sendable, Hashable {
    /// As the proxy sent it.
    package let name: String
    package let groups: [String]
    let grants: Grants

    /// The scopes, each of which holds for one app at least.
    package var scopes: Set<Scope> { grants.scopes }

    /// The name in the audit trail, the history and the log. No API token has a colon in its name, and no user of the system:
    /// none of theirs can look like a person's.
    package var actor: String { "proxy:\(name)" }

    /// The key by which the person's sessions are counted, and by which a session is one with these apps. No API token has
    /// this digest.
    var key: [UInt8] {
        SHA256.digest(Array("a person whom a proxy signs in\0\(name)\(grants.areBound ? "\0\(binding)" : "")".utf8))
    }

    /// A text of the apps for which each scope holds.
    private var binding: String {
        Scope.allCases.filter(grants.hold).map { scope in
            let apps = grants.part(with: scope).apps.map { $0.sorted().joined(separator: " ") } ?? "*"
            return "\(scope.rawValue): \(apps)"
        }.joined(separator: "\n")
    }

    /// Whether a session is this person's, with the present rights. The bytes are compared, not the characters: Unicode has
    /// several spellings of one.
    func owns(_ session: BrowserSession) -> Bool {
        isNamed(session) && session.scopes == scopes && session.token == key
    }

    func isNamed(_ session: BrowserSession) -> Bool {
        session.scopes != nil && session.actor.utf8.elementsEqual(actor.utf8)
    }

    /// The groups as a message lists them.
    var shownGroups: String { firstGroups { JSONValue.string($0).sight } }

    /// The first groups, and the number of the others.
    package func firstGroups(_ shown: (String) -> String) -> String {
        let most = ListBound.namedFaults.limit
        let named = groups.prefix(most).map(shown).joined(separator: ", ")
        return groups.count > most ? "\(named), +\(groups.count - most)" : named
    }

    /// The 403 for a person without any right.
    func withoutRights(_ header: String) -> ProblemDetails {
        let sent = groups.isEmpty ? "it sent no group (\(header))" : "it sent the groups \(shownGroups)"
        return ProblemDetails(
            403,
            "the proxy signed you in as \(JSONValue.string(name).sight); \(sent), and none has a right here: "
                + "an operator gives one in listen.page.identity.rights")
    }
}
