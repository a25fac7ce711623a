// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// An act that waits, or has waited, for a second person: the request, and what became of it.
package struct Approval: Hashable, Sendable {
    /// The acts that may wait. The raw values are in the store and on the wire.
    package enum Act: String, Hashable, Sendable, CaseIterable {
        case raise, block, release, cancel

        /// The act whose facts a request keeps from the moment at which it was made.
        package var kind: ActKind {
            switch self {
            case .raise, .block: .raise
            case .release: .release
            case .cancel: .cancel
            }
        }
    }

    /// The raw values are in the store and on the wire.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It waits. Ends with an approval, a refusal, a newer request, or at its time.
        case open
        /// The act was done.
        case approved
        case refused
        /// A newer request for the same kind of act took its place.
        case superseded
        /// Its time ended before an approval.
        case expired
        /// One person did the act in an emergency, without a second one.
        case alone
    }

    /// The act, as it is done once it is approved.
    package struct Wish: Hashable, Sendable {
        package var act: Act
        /// The version that it is about; of several blocks the first.
        package var version: Version
        /// The kind of the requirement that is released.
        package var kind: Requirement.Kind?
        /// The public id of the campaign that is cancelled.
        package var campaign: String?
        /// A bump as the API takes it, without its phone numbers.
        package var body: String?
        /// A bump's canary. Forgotten once the request is closed; erased users are missing.
        package var telephones: [String]?
        /// Whether it is sent at any hour.
        package var isUrgent: Bool

        package init(_ act: Act, _ version: Version, isUrgent: Bool = false) {
            (self.act, self.version, self.isUrgent) = (act, version, isUrgent)
        }

        /// The id of the row that it is about; nil: there is none yet.
        package func requirement(in requirements: Requirements) -> Int64? {
            let kind = kind ?? (act == .block ? .blocked : .required)
            return requirements.rows.last { $0.version == version && $0.kind == kind && $0.state != .withdrawn }?.id
        }

        /// Whether both ask for the same, apart from the phone numbers, which a closed request has forgotten.
        package func isAlike(_ other: Wish) -> Bool {
            var (left, right) = (self, other)
            (left.telephones, right.telephones) = (nil, nil)
            return left == right
        }
    }

    /// 0: not stored yet.
    package var id: Int64
    package var app: AppKey
    package var wish: Wish
    package var reach: ApprovalReach
    /// The facts at the moment of the request. An approval is an approval of these.
    package var shown: Shown
    package var asked: Principal
    package var askedAt: Timestamp
    /// Nothing approves it from then on.
    package var until: Timestamp
    package var state = State.open
    package var closedBy: String?
    package var closedAt: Timestamp?
    /// Why it was refused, or why one person acted alone.
    package var reason: String?

    package init(
        id: Int64 = 0, _ app: AppKey, _ wish: Wish, _ reach: ApprovalReach, shown: Shown, by asked: Principal,
        at askedAt: Timestamp, until: Timestamp
    ) {
        (self.id, self.app, self.wish, self.reach, self.shown) = (id, app, wish, reach, shown)
        (self.asked, self.askedAt, self.until) = (asked, askedAt, until)
    }

    /// The state at this moment: the store keeps a request open until its end is seen.
    package func state(at now: Timestamp) -> State { state == .open && until <= now ? .expired : state }

    /// The reason why it waits; nil: it does not wait any more.
    package func wait(at now: Timestamp) -> Wait? { state(at: now) == .open ? .secondPerson(until) : nil }

    /// The name under which the act stands in histories once it is approved.
    package func author(approvedBy name: String) -> String { "\(asked.name), approved by \(name)" }

    /// The act in words: "require 2.1.0", "block 2.0.5", "release 2.1.0", "cancel the campaign of 2.1.0".
    package var deed: String {
        switch wish.act {
        case .raise: "require \(wish.version)"
        case .block: "block \(wish.version)"
        case .release: "release \(wish.version)"
        case .cancel: "cancel the campaign of \(wish.version)"
        }
    }
}

/// Why an act that needs a second person is not done. Nothing has changed then.
package enum ApprovalRefusal: Error, Hashable, Sendable {
    /// The request waits no longer.
    case isOver(Approval, Approval.State)
    /// The person who asked approves.
    case own(Approval)
    /// A machine approves.
    case notAPerson(Approval)
    /// A machine asks for something that a person has refused.
    case refusedBefore(Approval)
    /// The versions changed while the reach of the act was counted.
    case moved
}

/// An act waits for a second person: it was not done, and is no error.
package struct ApprovalAsked: Error, Hashable, Sendable {
    package var approval: Approval

    package init(_ approval: Approval) { self.approval = approval }
}

extension Approval {
    /// Whether a person may approve it.
    ///
    /// - Throws: the reason against it.
    package func check(by approver: Principal, at now: Timestamp) throws(ApprovalRefusal) {
        let state = state(at: now)
        guard state == .open else { throw .isOver(self, state) }
        guard approver.kind.isPerson else { throw .notAPerson(self) }
        guard approver.person != asked.person else { throw .own(self) }
    }

    /// Whether a new request is the same one: then it is left as it is, and its time does not begin anew.
    package func isRepeated(by asker: Principal, _ wish: Wish, at now: Timestamp) -> Bool {
        state(at: now) == .open && self.wish == wish && asked.person == asker.person
    }

    /// Whether a new request is answered by this one alone: it is the same, or a person has refused it to a machine.
    package func isAnswer(to wish: Wish, by asker: Principal, at now: Timestamp) -> Bool {
        isRepeated(by: asker, wish, at: now) || isRefused(to: asker, wish)
    }

    /// Whether a machine asks for what a person has refused.
    package func isRefused(to asker: Principal, _ wish: Wish) -> Bool {
        state == .refused && !asker.kind.isPerson && self.wish.isAlike(wish)
    }

    /// Whether the devices that it reaches are still about as many as those that were shown.
    ///
    /// - Throws: `StaleConfirmation`.
    package func check(reach now: ApprovalReach) throws(StaleConfirmation) {
        let shown = Shown([.devices: .number(reach.devices)])
        let changes = shown.changes(to: Shown([.devices: .number(now.devices)]))
        if !changes.isEmpty { throw StaleConfirmation(changes) }
    }
}

extension Principal {
    /// The person's name, by which two persons differ: of a user of the control socket, and of a session that began there,
    /// the user's own; of root who acts for another user, that user's; of a person whom a proxy signed in, the proxy's name
    /// for that person. Letters of both cases are the same.
    package var person: String {
        var user = name.firstRange(of: " (uid 0) for ").map { name[$0.upperBound...] } ?? name[...]
        if user.hasPrefix("proxy:") { user = user.dropFirst("proxy:".count) }
        return (user.firstRange(of: " (uid ").map { user[..<$0.lowerBound] } ?? user).lowercased()
    }
}
