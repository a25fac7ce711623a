// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import WireFormat

extension SQLStore {
    package func seenCountries(of app: AppKey) throws -> AudienceCountries {
        try readOnce("reading the countries seen") { connection in
            guard let id = try AppTable.id(of: app, connection) else { return AudienceCountries() }
            var audience = AudienceCountries()
            var last = ""
            // Each query finds the next one in the index `device_country`.
            while let next = try connection.first(SeenCountries.next, id, last, row: { $0.optionalText() }) ?? nil {
                if ValueDoubt.country(next.utf8) == nil { audience.known.insert(next) }
                last = next
            }
            audience.hasUnknown = try connection.exists(SeenCountries.unknown, id)
            return audience
        }
    }
}

package enum SeenCountries {
    /// The next country of an app (?1) after one (?2); NULL: none.
    package static let next: SQL = """
        SELECT min(country) FROM device WHERE app_id = ?1 AND country > ?2 AND country IS NOT NULL AND removed_at IS NULL
        """
    /// Finds a device of an app (?1) whose country is unknown.
    package static let unknown: SQL =
        "SELECT 1 FROM device WHERE app_id = ?1 AND country IS NULL AND removed_at IS NULL LIMIT 1"
}
