// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing

@testable import RelayStorePostgres

@Suite("What the common SQL becomes for PostgreSQL")
struct NumberedParametersTests {
    @Test(arguments: [
        ("SELECT 1", "SELECT 1"),
        ("VALUES (?, ?, ?)", "VALUES ($1, $2, $3)"),
        ("a = ?1 AND b = ?2 AND c = ?1", "a = $1 AND b = $2 AND c = $1"),
        ("a = ?3 AND b = ?", "a = $3 AND b = $4"),
        ("a = '?' AND \"?\" = ? AND b = 'it''s ?'", "a = '?' AND \"?\" = $1 AND b = 'it''s ?'"),
        ("a = ?12 OR b = ?", "a = $12 OR b = $13"),
    ])
    func numbers(sql: String, numbered: String) {
        #expect(NumberedParameters.numbered(sql) == numbered)
    }

    @Test func whatWasErasedHasNoNUL() {
        #expect(ErasedTelephone.read(ErasedTelephone.stored(Delivery.erased)) == Delivery.erased)
        #expect(!ErasedTelephone.stored(Delivery.erased).utf8.contains(0))
        for text in ["", "138", "\0", "\u{1}", "\0erased2"] { #expect(ErasedTelephone.stored(text) == text) }
    }
}
