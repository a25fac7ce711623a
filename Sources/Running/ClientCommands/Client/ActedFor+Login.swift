// SPDX-License-Identifier: Apache-2.0
import Terminal
import Threading
import WireFormat

extension ActedFor {
    /// The person for whom a process at the control socket acts; nil: for its own user.
    ///
    /// - Parameters:
    ///   - named: the value of `--as`.
    ///   - user: the user of this process.
    ///   - login: the user who logged in; nil: the process comes from no login.
    static func find(named: String?, user: UInt32, login: UInt32?) throws -> ActedFor? {
        guard let named else {
            guard user == 0, let login, login != 0 else { return nil }
            return ActedFor(SystemUser.shown(login), isLogin: true)
        }
        guard user == 0 else {
            throw UsageError("--as is for root; this process runs as \(SystemUser.shown(user)), and is named so")
        }
        let person = ActedFor(TrimmedText.trimmed(named), isLogin: false)
        if let fault = person.fault { throw UsageError("--as: the name \(fault)") }
        return person
    }
}
