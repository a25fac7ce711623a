// SPDX-License-Identifier: Apache-2.0

/// Why a campaign that is not over does not move. These reasons are defined only here: whether a person is waited for, a
/// person's remedy, and when a reason ends by itself, follow from them. Pure.
package enum Wait: Hashable, Sendable {
    /// The database is in an older state than the relay has seen before: no campaign goes on.
    case past
    /// The app's store does not offer the version, or offers it to too few users.
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
    /// A push service, or the relay's store, takes nothing for now. Readiness reports it if it lasts.
    case service
    /// The next wave begins then.
    case wave(Timestamp)
    /// Only the canary is sent to.
    case canary
    /// The canary is done: a person releases what follows.
    case release
    /// A wave is done: a person begins the next one.
    case approval
    /// One person asked: a second one approves, before this time.
    case secondPerson(Timestamp)
    /// The relay stopped it.
    case fault(SuspensionCause)
    /// Only retries are left; the next one is due then.
    case retries(Timestamp)

    /// The reason without its details; the raw values are its names for programs.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case past, store, time, lostStore, pause, noRoute, hours, service, wave, canary, release, approval,
            secondPerson, fault, retries
    }

    /// The kind of event that it waits for.
    package enum Standing: String, Hashable, Sendable, CaseIterable {
        /// It ends by itself.
        case planned
        /// A person decides, as was planned.
        case person
        /// Something is wrong.
        case trouble
    }

    package var kind: Kind {
        switch self {
        case .past: .past
        case .store: .store
        case .time: .time
        case .lostStore: .lostStore
        case .pause: .pause
        case .noRoute: .noRoute
        case .hours: .hours
        case .service: .service
        case .wave: .wave
        case .canary: .canary
        case .release: .release
        case .approval: .approval
        case .secondPerson: .secondPerson
        case .fault: .fault
        case .retries: .retries
        }
    }

    package var standing: Standing { kind.standing }

    /// When it ends by itself; nil where no time is known.
    package var end: Timestamp? {
        switch self {
        case .time(let end), .hours(let end), .wave(let end), .secondPerson(let end), .retries(let end): end
        case .past, .store, .lostStore, .pause, .noRoute, .service, .canary, .release, .approval, .fault: nil
        }
    }
}

extension Wait.Kind {
    package var standing: Wait.Standing {
        switch self {
        case .store, .time, .hours, .service, .wave, .canary, .retries: .planned
        case .pause, .release, .approval, .secondPerson: .person
        case .past, .lostStore, .noRoute, .fault: .trouble
        }
    }

    /// A person's remedy, in English; "%" stands for the next step of the rollout. nil: no act helps.
    package var remedy: StaticString? {
        switch self {
        case .store: "It begins by itself as soon as the store offers the version. Approve begins it now."
        case .time: "It begins by itself when its time has come. Approve begins it now."
        case .lostStore: "Put the store back into the configuration, or Approve."
        case .pause: "Resume sends what is left."
        case .approval: "A wave is done, as planned. Approve begins the next one."
        case .secondPerson: "A second person approves or refuses it. At its time it ends, and nothing has changed."
        case .fault: "Mend what the reason names, then Resume. Nothing is sent before."
        case .hours: "It goes on by itself. Resume with “whatever the hour” sends at once."
        case .canary, .release: "It goes to the named users alone. Approve sends it to %."
        case .wave: "The next wave begins when its time has come. Approve begins it now."
        case .past, .noRoute, .service, .retries: nil
        }
    }
}
