// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules

/// The facts that people are shown, and whether they still hold when the people act: one function reads them for both.
extension SQLStore {
    package func facts(_ subject: ActSubject, at now: Timestamp) throws -> Shown {
        try read("looking at what an act is about") { try facts(subject, at: now, $0) }
    }

    /// Refuses an act if the facts have changed since its confirmation. Must run within the transaction that decides.
    ///
    /// - Throws: `StaleConfirmation` where the facts differ from those that the actor confirmed.
    package func judge(_ actor: Signature, _ subject: ActSubject, _ connection: Connection) throws {
        guard let confirmed = actor.principal?.confirmed else { return }
        let subject = confirmed.campaign.map(ActSubject.campaign) ?? subject
        let changes = confirmed.shown.changes(to: try facts(subject, at: actor.at, connection))
        if !changes.isEmpty { throw StaleConfirmation(changes.map { $0.masked(of: subject) }) }
    }

    /// The same for an event; `.looked` is no person's act.
    func judge(_ actor: Signature, _ event: RequirementEvent, of app: AppKey, _ connection: Connection) throws {
        if let subject = self.subject(of: event, app) { try judge(actor, subject, connection) }
    }

    /// nil: it is no person's act.
    func subject(of event: RequirementEvent, _ app: AppKey) -> ActSubject? {
        switch event {
        case .asked, .withdrawn: .required(app)
        case .released(let version, let kind): .release(app, version, kind)
        case .unblocked(let versions, _): .blocks(app, versions)
        case .campaign(let key, _): .campaign(key)
        case .looked: nil
        }
    }

    func facts(_ subject: ActSubject, at now: Timestamp, _ connection: Connection) throws -> Shown {
        switch subject {
        case .required(let app):
            let row = try RequirementTable.requirements(of: app, connection).required
            return Requirement.shown(row, devices: try AppTable.devices(of: app, connection))
        case .release(let app, let version, let kind):
            let machine = RequirementMachine(
                try RequirementTable.requirements(of: app, connection),
                campaigns: try CampaignTable.facts(of: app, connection))
            return Requirement.shown(
                machine.releasable(version, kind), devices: try AppTable.devices(of: app, connection))
        case .blocks(let app, let versions):
            return try RequirementTable.requirements(of: app, connection)
                .shown(ofBlocks: versions, devices: AppTable.devices(of: app, connection))
        case .campaign(let key):
            return try CampaignTable.record(key, connection)?.shown ?? Shown()
        case .alert(let app):
            return Shown([.text: .init(try AlertRecord.first(of: app, at: now, connection)?.message)])
        case .device(let app, let token):
            let id = try AppTable.id(of: app, connection)
            let device = try devices(token: token, connection).first { $0.app == id && !$0.isRemoved }
            return Shown([.text: .init(device?.telephone)])
        case .user(let telephone, let apps):
            let ids = try Set(AppTable.all(connection).filter { apps.contains($0.key) }.map(\.id))
            let devices = try ListedDevice.all(ofUser: telephone, connection).count {
                ids.contains($0.app) && !$0.isRemoved && TelephoneRule.matches($0.telephone, telephone)
            }
            return Shown([.devices: .number(Int64(devices))])
        case .accessToken(let name):
            let token = try connection.first(AccessToken.self, "FROM access_token WHERE name = ?", name)
            return Shown([.state: .init(token.map { $0.revokedAt == nil ? "active" : "revoked" })])
        }
    }
}

extension Shown.Change {
    /// Masks a telephone, which must not stand in an error.
    fileprivate func masked(of subject: ActSubject) -> Shown.Change {
        guard case .device = subject, fact == .text else { return self }
        func masked(_ value: Shown.Value) -> Shown.Value {
            if case .text(let telephone) = value { .text(Masked.telephone(telephone)) } else { value }
        }
        return Shown.Change(fact: fact, shown: masked(shown), now: masked(now))
    }
}
