// SPDX-License-Identifier: Apache-2.0

/// A phone with the app, as it really is: what the relay's registry says of it may be older.
struct Phone {
    let number: Int
    let app: Int
    /// Which installation of the app it is: each has a push token of its own.
    var installation = 0
    /// Who is logged in.
    var user: Int?
    /// The version that runs on it; see `World.text(version:)`.
    var version: Int
    let isSandbox: Bool
    /// Whether the push service knows its token.
    var isInstalled = true
    /// Since when it does not, by the right time, in milliseconds.
    var goneAt: Int64 = 0

    func token(isAndroid: Bool, installation: Int? = nil) -> String {
        let which = "\(number).\(installation ?? self.installation)"
        guard !isAndroid else { return "phone\(which):token" }
        // 64 hex digits: the number, so that a reader of a trace finds it.
        let digits = which.utf8.map { String($0, radix: 16) }.joined()
        return String(repeating: "0", count: 64 - digits.count) + digits
    }
}

/// What a phone said at login while the store took nothing.
struct UnstoredLogin {
    let app: Int
    let token: String
    let version: Int
}
