// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
package import Requirements

/// The limits of the texts that a store keeps: every database can hold texts within them, so that data can be moved
/// from one database to another. The API is stricter.
package enum StoreText {
    /// The most bytes of a text that rows are looked up by, such as a telephone or a webhook's id. An entry of an index
    /// has 2,704 bytes at most in PostgreSQL, and some keys are made of two texts.
    package static let longestKey = 1024

    /// PostgreSQL's texts cannot hold U+0000 ("the character with code zero is not supported", postgresql.org/docs,
    /// "Character Types"), and SQLite's functions end at it (sqlite.org/nulinstr.html).
    package static let nul = "a text has the character U+0000, which no store keeps"

    /// Checks the lengths. Each driver looks for U+0000 where it binds a text.
    ///
    /// - Throws: `.conflict`: it would be refused at every further try.
    package static func check(keys: String...) throws(StoreError) {
        for key in keys { try checkKey(length: key.utf8.count) }
    }

    fileprivate static func checkKey(length: Int) throws(StoreError) {
        guard length > longestKey else { return }
        throw StoreError(
            .conflict, context: "a text of \(length) bytes is too long to look for; a store keeps \(longestKey) at most"
        )
    }
}

extension RegistrationBatch {
    /// Some devices of one app, whose texts a store can keep.
    ///
    /// - Throws: as `checkTexts`.
    package init(_ devices: some Sequence<DeviceRegistration>, of app: AppKey) throws(StoreError) {
        self.init(app: app)
        for device in devices { append(device) }
        try checkTexts()
    }

    /// - Throws: `.conflict` where a store cannot keep one of its texts.
    package func checkTexts() throws(StoreError) {
        try StoreText.check(keys: app.app)
        guard !bytes.contains(0) else { throw StoreError(.conflict, context: StoreText.nul) }
        for row in rows {
            let telephone = row.texts[.telephone]
            if !telephone.isAbsent { try StoreText.checkKey(length: telephone.range.count) }
        }
    }
}
