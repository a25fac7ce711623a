// SPDX-License-Identifier: Apache-2.0

/// Decides when an app asks its user to upgrade (SEEDS S1, S2): it takes events and returns prompts. Pure; the app stores it.
///
/// A value of this type holds everything to remember. Keep its `rawValue` wherever the app keeps small things, and send
/// `upgraded(to:)` with the bundle's version at every start, before anything else:
/// ```swift
/// var prompt = defaults.string(forKey: "upgrade").flatMap(UpgradePrompt.init(rawValue:)) ?? UpgradePrompt(installed: version)
/// _ = prompt.handle(.upgraded(to: version))
/// ```
///
/// | event | clear | reminding | pending | forcing |
/// |---|---|---|---|---|
/// | `loginAnswered`, `judged`: force | forcing, **force** | forcing, **force** | forcing, **force** | forcing, **force** |
/// | …: remind | reminding, **remind** | reminding, **remind** | reminding, **remind** | reminding, **remind** |
/// | …: none | clear | clear | clear | clear |
/// | `updateFound` | reminding, **remind** | reminding, **remind** | – | – |
/// | `pushReceived` | pending | pending | pending | forcing |
/// | `coreActionBegan` | – | – | forcing, **force** | **force** |
/// | `returnedToForeground` | – | – | – | **force** |
/// | `userDeclined` | – | clear | – | **force** |
/// | `upgraded(to:)` a newer version | clear | clear | clear | clear |
/// | `loggedOut` | clear | clear | clear | clear |
///
/// The newest judgement replaces an older one and also a push: at login the server compared the version that the app had just
/// sent, whereas a push goes by the version in the registry, and to devices of unknown version. If a push counted more, a
/// user who is current would be locked out for good.
public struct UpgradePrompt: Hashable, Sendable {
    /// The prompts that the user has seen, and those to come.
    public enum State: Hashable, Sendable {
        /// Nothing.
        case clear
        /// A newer version is there; the user may decline.
        case reminding(downloadURL: String)
        /// A push requires an upgrade. The prompt waits for the next core action, so that no half-finished work is lost.
        case pending(downloadURL: String)
        /// The user was prompted to upgrade, and is prompted again at each return to the foreground and each core action.
        case forcing(downloadURL: String)
    }

    /// Something that happened.
    public enum Event: Hashable, Sendable {
        /// A login or re-login was answered.
        case loginAnswered(LoginAnswer)
        /// Another source judged at launch, such as a LaunchGate document. The app knows the URL.
        case judged(UpgradeVerdict, downloadURL: String?)
        /// The store offers a newer version. This never forces, and withdraws no other prompt.
        case updateFound(downloadURL: String)
        /// A push was accepted by `UpgradePush.verdict(type:userTelephone:installed:build:)`, which drops a push that asks
        /// for no more than the app runs.
        case pushReceived(downloadURL: String)
        /// The user begins one of the app's main tasks, such as sending an order.
        case coreActionBegan
        /// The app became active; also sent at its start.
        case returnedToForeground
        /// The user put the reminder away.
        case userDeclined
        /// The app runs in this version: sent at each start. A version newer than at the previous start clears the state.
        case upgraded(to: Version)
        /// The user logged out; the next login is judged anew.
        case loggedOut
    }

    /// The prompt to show now.
    public enum Action: Hashable, Sendable {
        /// Nothing.
        case none
        /// A prompt that can be declined.
        case showRemind(downloadURL: String)
        /// A prompt with one button.
        case showForce(downloadURL: String)
    }

    /// The user's present state.
    public private(set) var state: State
    /// The version that the app had at its last start.
    public private(set) var installed: Version

    /// Makes the state before any prompt.
    public init(installed: Version) {
        state = .clear
        self.installed = installed
    }

    /// Takes an event; store the value afterwards.
    ///
    /// - Returns: the prompt to show at once.
    public mutating func handle(_ event: Event) -> Action {
        switch event {
        case .loginAnswered(let answer): return take(answer.verdict, answer.downloadUrl)
        case .judged(let verdict, let url): return take(verdict, url)
        case .updateFound(let url): return found(url)
        case .pushReceived(let url): return push(url)
        case .coreActionBegan: return coreAction()
        case .returnedToForeground: return force()
        case .userDeclined:
            if case .reminding = state { state = .clear }
            return force()
        case .upgraded(let version):
            if version > installed { state = .clear }
            installed = version
        case .loggedOut: state = .clear
        }
        return .none
    }

    private mutating func take(_ verdict: UpgradeVerdict, _ url: String?) -> Action {
        guard verdict != .none, let url, !url.isEmpty else {
            state = .clear
            return .none
        }
        guard verdict == .force else {
            state = .reminding(downloadURL: url)
            return .showRemind(downloadURL: url)
        }
        state = .forcing(downloadURL: url)
        return .showForce(downloadURL: url)
    }

    private mutating func found(_ url: String) -> Action {
        guard !url.isEmpty else { return .none }
        switch state {
        case .clear, .reminding:
            state = .reminding(downloadURL: url)
            return .showRemind(downloadURL: url)
        case .pending, .forcing: return .none
        }
    }

    private mutating func push(_ url: String) -> Action {
        guard !url.isEmpty else { return .none }
        if case .forcing = state {
            state = .forcing(downloadURL: url)
        } else {
            state = .pending(downloadURL: url)
        }
        return .none
    }

    private mutating func coreAction() -> Action {
        if case .pending(let url) = state { state = .forcing(downloadURL: url) }
        return force()
    }

    private func force() -> Action {
        if case .forcing(let url) = state { .showForce(downloadURL: url) } else { .none }
    }
}

extension UpgradePrompt: RawRepresentable, Codable {
    /// Reads a `rawValue`; nil for any other text.
    public init?(rawValue: String) {
        let words = rawValue.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard words.count >= 2, let installed = try? Version(words[1]) else { return nil }
        let url = words.count == 3 && !words[2].isEmpty ? words[2] : nil
        switch (words[0], url) {
        case ("clear", nil) where words.count == 2: state = .clear
        case ("reminding", let url?): state = .reminding(downloadURL: url)
        case ("pending", let url?): state = .pending(downloadURL: url)
        case ("forcing", let url?): state = .forcing(downloadURL: url)
        default: return nil
        }
        self.installed = installed
    }

    /// All that must survive a restart, as a short text: "forcing 1.9.0 https://…".
    public var rawValue: String {
        switch state {
        case .clear: "clear \(installed)"
        case .reminding(let url): "reminding \(installed) \(url)"
        case .pending(let url): "pending \(installed) \(url)"
        case .forcing(let url): "forcing \(installed) \(url)"
        }
    }
}
