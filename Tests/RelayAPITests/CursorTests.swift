// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing

@testable import RelayAPI

@Suite("Cursors")
struct CursorTests {
    @Test("cursors read back, and only as what they are")
    func cursors() {
        #expect(Cursor.position(Cursor.text(.campaigns, 42), .campaigns) == 42)
        #expect(Cursor.position(Cursor.text(.campaigns, 42), .deliveries) == nil)
        for bad in ["", "42", "c42", "!!", Cursor.text(.campaigns, -1)] {
            #expect(Cursor.position(bad, .campaigns) == nil, "\(bad)")
        }
        let position = DeliveryPosition(campaign: "0123456789ab", device: 7)
        #expect(Cursor.deliveryPosition(Cursor.text(position)) == position)
        for bad in ["", "!!", Cursor.text(.ledger, 7), Cursor.text(.deliveries, 7)] {
            #expect(Cursor.deliveryPosition(bad) == nil, "\(bad)")
        }
    }
}
