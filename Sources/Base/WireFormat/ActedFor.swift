// SPDX-License-Identifier: Apache-2.0

/// The person for whom root acts at the control socket. The kernel vouches for root alone; the name is root's word.
package struct ActedFor: Hashable, Sendable {
    /// The field of a request that names the person explicitly. The relay accepts it from root alone.
    private static let namedField = "upgrade-relay-as"
    /// The field with the user who logged in. Ignored unless root sends it: a command cannot know whether the relay sees it as root.
    private static let loginField = "upgrade-relay-login"

    package static let fields = [namedField, loginField]

    /// The beginning of the refusal of a name that another user gives.
    package static let rootAlone = "root alone, at the control socket, may name the person that it acts for"

    package var name: String
    /// Whether the name is the system's record of the login, not one that a person gave.
    package var isLogin: Bool

    package init(_ name: String, isLogin: Bool) {
        self.name = name
        self.isLogin = isLogin
    }

    /// Reads a request's fields; nil: it names no person.
    package init?(_ field: (String) -> String?) {
        if let name = field(Self.namedField) {
            self.init(name, isLogin: false)
        } else if let name = field(Self.loginField) {
            self.init(name, isLogin: true)
        } else {
            return nil
        }
    }

    /// The field that carries it.
    package var field: (name: String, value: String) { (isLogin ? Self.loginField : Self.namedField, name) }

    /// Why the audit trail cannot show this name; nil: it can.
    package var fault: String? { Self.fault(in: name) }

    /// Why the audit trail cannot show a person's name; nil: it can.
    package static func fault(in name: String) -> String? {
        if name.isEmpty { return "must not be empty" }
        let count = name.unicodeScalars.count
        if count > 64 { return "has at most 64 characters; it had \(count)" }
        return PlainText.fault(in: name, lines: false, joins: false)
    }
}
