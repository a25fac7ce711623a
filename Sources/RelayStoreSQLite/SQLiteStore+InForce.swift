// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import UpgradeRules

extension SQLiteStore {
    package func waitingVersions(of app: AppKey) throws -> WaitingVersions {
        try read("reading what waits for a store") { try InForceTable.waiting(of: app, $0) }
    }

    package func inForceHistory(of app: AppKey, limit: Int) throws -> [InForceChange] {
        try read("reading what was in force") { try InForceTable.history(of: app, limit: limit, $0) }
    }

    package func putInForce(
        _ required: Version, of app: AppKey, by actor: String, from source: String, reason: String?, at now: Timestamp
    ) throws -> Bool {
        try write("putting a requirement in force") { connection in
            let waiting = try InForceTable.waiting(of: app, connection)
            guard let record = waiting.required.first(where: { $0.required == required }) else { return false }
            var inForce = try InForceTable.inForce(of: app, connection)
            if !inForce.holds(required, onlyFor: record.telephones) {
                inForce.require(record, by: actor, reason: reason, at: now)
                try InForceTable.store(inForce, of: app, by: actor, from: source, at: now, connection)
            }
            try CampaignTable.begin(required, of: app, at: now, connection)
            return true
        }
    }

    package func announce(
        _ latest: Version, of app: AppKey, by actor: String, reason: String?, at now: Timestamp
    ) throws -> Bool {
        try write("announcing a version") { connection in
            let waiting = try InForceTable.waiting(of: app, connection)
            guard let record = waiting.latest.first(where: { $0.latest == latest }) else { return false }
            var inForce = try InForceTable.inForce(of: app, connection)
            inForce.announce(record)
            try InForceTable.store(inForce, of: app, by: actor, from: "gate", at: now, connection)
            return true
        }
    }

    package func takeOutOfForce(
        _ required: Version, of app: AppKey, by actor: String, reason: String, at now: Timestamp
    ) throws -> Bool {
        try write("taking a requirement out of force") { connection in
            let inForce = try InForceTable.inForce(of: app, connection)
            var after = inForce
            if inForce.required == required, inForce.openedBy == actor {
                after = try InForceTable.before(required, of: app, connection)
                (after.reason, after.canary) = (reason, inForce.canary)
            } else if let canary = inForce.canary, canary.required == required, canary.openedBy == actor {
                after.canary = nil
            } else {
                return false
            }
            try InForceTable.store(after, of: app, by: actor, from: "gate", at: now, connection)
            for campaign in try CampaignTable.open(of: app, requiring: required, connection) {
                try CampaignTable.move(campaign, from: [.running], to: .waiting, reason: reason, at: now, connection)
            }
            try CampaignTable.goOnWithForce(of: app, at: now, connection)
            return true
        }
    }
}
