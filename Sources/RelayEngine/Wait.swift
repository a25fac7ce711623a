// SPDX-License-Identifier: Apache-2.0

/// Why a campaign that is not over does not move. These reasons are defined only here: whether a person is waited for, and
/// when a reason ends by itself, follow from them. Pure.
package enum Wait: Hashable, Sendable {
    /// The database is older than the relay has seen: nothing of any campaign goes on.
    case past
    /// The app's store does not offer the version, or to too few users.
    case store
    /// The moment of the requirement, or the end of the hold after the version's release.
    case time(Timestamp)
    /// The store that the version waits for is no longer in the configuration.
    case lostStore
    /// A person paused it.
    case pause
    /// The configuration has no push service for the app.
    case noRoute
    /// The app's hours begin then.
    case hours(Timestamp)
    /// A push service, or the relay's store, takes nothing for now. Readiness reports one that lasts.
    case service
    /// The next wave begins then.
    case wave(Timestamp)
    /// Only the canary is sent to.
    case canary
    /// The canary is done: a person releases what follows.
    case release
    /// A wave is done: a person begins the next one.
    case approval
    /// The relay stopped it.
    case fault(SuspensionCause)
    /// All that is left is tried again then.
    case retries(Timestamp)

    /// The kind of event that it waits for.
    package enum Standing: String, Hashable, Sendable {
        /// It ends by itself.
        case planned
        /// A person decides, as was planned.
        case person
        /// Something is wrong.
        case trouble
    }

    package var standing: Standing {
        switch self {
        case .store, .time, .hours, .service, .wave, .canary, .retries: .planned
        case .pause, .release, .approval: .person
        case .past, .lostStore, .noRoute, .fault: .trouble
        }
    }

    /// Its name for programs.
    package var name: String {
        switch self {
        case .past: "past"
        case .store: "store"
        case .time: "time"
        case .lostStore: "lostStore"
        case .pause: "pause"
        case .noRoute: "noRoute"
        case .hours: "hours"
        case .service: "service"
        case .wave: "wave"
        case .canary: "canary"
        case .release: "release"
        case .approval: "approval"
        case .fault: "fault"
        case .retries: "retries"
        }
    }

    /// When it ends by itself; nil where no time is known.
    package var end: Timestamp? {
        switch self {
        case .time(let end), .hours(let end), .wave(let end), .retries(let end): end
        case .past, .store, .lostStore, .pause, .noRoute, .service, .canary, .release, .approval, .fault: nil
        }
    }
}
