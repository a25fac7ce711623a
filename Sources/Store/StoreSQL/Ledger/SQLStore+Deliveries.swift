// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Requirements

extension SQLStore {
    package func deliveryPage(
        of campaign: CampaignKey, _ filter: DeliveryFilter, after: Int64, limit: Int
    ) throws -> DeliveryPage {
        try read("listing deliveries") { connection in
            guard limit > 0, let list = try DeliveryList(of: campaign, connection) else { return DeliveryPage() }
            guard let devices = try devices(meantBy: filter, connection) else {
                return try list.page(filter, after: after, limit: limit)
            }
            var page = DeliveryPage()
            for device in devices where device.id > after && device.app == list.app {
                guard let delivery = try list.delivery(to: device, telephone: filter.telephone),
                    filter.takes(delivery.state, delivery.reason)
                else { continue }
                if page.items.count == limit {
                    page.next = page.items.last?.device
                    break
                }
                page.items.append(delivery)
            }
            return page
        }
    }

    package func deliveries(
        _ filter: DeliveryFilter, after: DeliveryPosition?, limit: Int
    ) throws -> [Delivery] {
        try read("listing deliveries") { connection in
            guard let devices = try devices(meantBy: filter, connection) else { return [] }
            var start = CampaignKey(row: .max)
            if let after {
                let row = try connection.first("SELECT id FROM campaign WHERE public_id = ?", after.campaign) {
                    $0.integer()
                }
                guard let row else { return [] }
                start = CampaignKey(row: row)
            }
            let apps = Set(devices.map(\.app))
            let campaigns = try apps.flatMap { app in
                try connection.all(
                    "SELECT id FROM campaign WHERE app_id = ? AND id <= ?", app, start.row
                ) { CampaignKey(row: $0.integer()) }
            }
            var found: [Delivery] = []
            for campaign in campaigns.sorted(by: >) where found.count < limit {
                guard let list = try DeliveryList(of: campaign, connection) else { continue }
                let seen = campaign == start ? after?.device ?? 0 : 0
                for device in devices where found.count < limit && device.app == list.app && device.id > seen {
                    if let delivery = try list.delivery(to: device, telephone: filter.telephone),
                        filter.takes(delivery.state, delivery.reason)
                    {
                        found.append(delivery)
                    }
                }
            }
            return Array(found.prefix(max(limit, 0)))
        }
    }
}
