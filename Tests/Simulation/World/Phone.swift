// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// A phone with the app, as it really is: the relay's registry may be out of date.
struct Phone {
    let number: Int
    let app: Int
    let isAndroid: Bool
    /// The number of the app's installation: each has a push token of its own.
    var installation = 0 { didSet { token = Self.token(of: number, installation, isAndroid: isAndroid) } }
    private(set) var token: String
    /// The user who is logged in; nil: none.
    var user: Int?
    /// The version that runs on it; see `World.text(version:)`.
    var version: Int
    /// Whether its token belongs to the sandbox; else to production.
    let isSandbox: Bool
    /// Whether the app reports the sandbox, which is wrong where a build was signed for the other environment.
    var saysSandbox: Bool
    /// The system version that it reports; nil: none.
    var system: String?
    /// The country where its user gets apps from; nil: not reported.
    var country: String?
    /// Whether its system is too old for the requirements that name a minimum.
    var isTooOld: Bool { system == Self.oldSystem }
    /// The minimum system that people require, and one below it.
    static let (minimumSystem, oldSystem) = ("15.0", "14.8")
    /// Whether it registers in the wrong environment.
    var isAstray: Bool { saysSandbox != isSandbox }
    /// Whether the push service knows its token.
    var isInstalled = true
    /// Since when the push service does not know its token, by the right time, in milliseconds.
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
        // 64 hex digits that contain the number, so that a reader of a trace finds it.
        let digits = which.utf8.map { String($0, radix: 16) }.joined()
        return String(repeating: "0", count: 64 - digits.count) + digits
    }
}

/// A phone's login while the store could not be written.
struct UnstoredLogin {
    let app: Int
    let token: String
    let version: Int
    /// nil: it named none.
    let system: Version?
}
