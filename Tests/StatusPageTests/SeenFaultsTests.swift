// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import Testing

@testable import StatusPage

/// A reader who may see some apps alone sees their faults and the relay's own, and no name of another app.
@Suite struct SeenFaultsTests {
    private static let apps: Set = ["com.a", "com.a.b", "com.c"]

    @Test(arguments: [
        ("store", "the disk is full", ["com.a", "com.a.b", "com.c"]), ("apns:com.a", "down", ["com.a"]),
        ("apns:com.a.b", "down", ["com.a.b"]), ("outage:com.c", "as for com.a", []),
        ("gates", "of com.a. Again", ["com.a"]),
        ("quota:com.a.b/android", "com.a.b", ["com.a.b"]),
    ])
    func `A fault is shown to those who may see each app that it names`(part: String, reason: String, readers: [String])
    {
        let fault = ReadinessFault(part: part, reason: reason)
        for app in Self.apps {
            let seen = View.faults([fault], of: Self.apps) { $0 == app }
            #expect(seen.isEmpty != readers.contains(app), "\(app)")
        }
    }
}
