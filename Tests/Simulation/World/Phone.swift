// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// A phone with the app, as it really is: what the relay's registry says of it may be older.
struct Phone {
    let number: Int
    let app: Int
    let isAndroid: Bool
    /// Which installation of the app it is: each has a push token of its own.
    var installation = 0 { didSet { token = Self.token(of: number, installation, isAndroid: isAndroid) } }
    private(set) var token: String
    /// Who is logged in.
    var user: Int?
    /// The version that runs on it; see `World.text(version:)`.
    var version: Int
    /// Whose its token is: the sandbox's, or production's.
    let isSandbox: Bool
    /// What the app says of that, which is wrong where a build was signed for the other one.
    var saysSandbox: Bool
    /// What its system says of itself; nil: nothing.
    var system: String?
    /// Where its user gets apps from; nil: it does not say.
    var country: String?
    /// Whether that is too old for what people require, where they say what it runs on.
    var isTooOld: Bool { system == Self.oldSystem }
    /// What they say, and what is below it.
    static let (minimumSystem, oldSystem) = ("15.0", "14.8")
    /// Whether it registers in the wrong environment.
    var isAstray: Bool { saysSandbox != isSandbox }
    /// Whether the push service knows its token.
    var isInstalled = true
    /// Since when it does not, by the right time, in milliseconds.
    var goneAt: Int64 = 0

    init(number: Int, app: Int, isAndroid: Bool, user: Int?, version: Int, isSandbox: Bool, isAstray: Bool) {
        (self.number, self.app, self.isAndroid) = (number, app, isAndroid)
        (self.isSandbox, saysSandbox) = (isSandbox, isSandbox != isAstray)
        (self.user, self.version) = (user, version)
        token = Self.token(of: number, 0, isAndroid: isAndroid)
    }

    private static func token(of number: Int, _ installation: Int, isAndroid: Bool) -> String {
        let which = "\(number).\(installation)"
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
    /// nil: it named none.
    let system: Version?
}
