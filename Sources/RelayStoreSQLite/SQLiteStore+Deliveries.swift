// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import UpgradeRules

extension SQLiteStore {
    package func deliveries(
        of campaign: CampaignKey, state: DeliveryState?, telephone: String?, after: Int64, limit: Int
    ) throws -> [Delivery] {
        try read("listing deliveries") { connection in
            guard limit > 0, let list = try DeliveryList(of: campaign, connection) else { return [] }
            guard let telephone else { return try list.page(state: state, after: after, limit: limit) }
            let found = try DeliveryList.devices(ofUser: telephone, connection)
                .filter { $0.id > after && $0.app == list.app }
                .compactMap { try list.delivery(to: $0, telephone: telephone) }
            return Array(found.filter { state == nil || $0.state == state }.prefix(limit))
        }
    }

    package func deliveries(
        telephone: String?, token: String?, after: DeliveryPosition?, limit: Int
    ) throws -> [Delivery] {
        try read("listing deliveries") { connection in
            var devices: [DeliveryList.Device]
            switch (telephone, token) {
            case (nil, nil): return []
            case (let telephone?, nil): devices = try DeliveryList.devices(ofUser: telephone, connection)
            case (nil, let token?): devices = try DeliveryList.devices(token: token, connection)
            case (let telephone?, let token?):
                let ids = Set(try DeliveryList.devices(token: token, connection).map(\.id))
                devices = try DeliveryList.devices(ofUser: telephone, connection).filter { ids.contains($0.id) }
            }
            var start = CampaignKey(row: .max)
            if let after {
                let row = try connection.first("SELECT id FROM campaign WHERE public_id = ?", .text(after.campaign)) {
                    $0.integer(0)
                }
                guard let row else { return [] }
                start = CampaignKey(row: row)
            }
            let apps = Set(devices.map(\.app))
            let campaigns = try apps.flatMap { app in
                try connection.all(
                    "SELECT id FROM campaign WHERE app_id = ? AND id <= ?", .integer(app), .integer(start.row)
                ) { CampaignKey(row: $0.integer(0)) }
            }
            var found: [Delivery] = []
            for campaign in campaigns.sorted(by: >) where found.count < limit {
                guard let list = try DeliveryList(of: campaign, connection) else { continue }
                let seen = campaign == start ? after?.device ?? 0 : 0
                for device in devices where device.app == list.app && device.id > seen {
                    if let delivery = try list.delivery(to: device, telephone: telephone) { found.append(delivery) }
                }
            }
            return Array(found.prefix(max(limit, 0)))
        }
    }
}
