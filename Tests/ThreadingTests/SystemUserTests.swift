// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Threading

@Suite struct SystemUserTests {
    @Test(arguments: [("1000\n", 1000), ("0", 0), ("4294967295", nil), ("", nil), ("x", nil)] as [(String, UInt32?)])
    func `A login is a user, unless there was none`(text: String, user: UInt32?) {
        #expect(SystemUser.login(text) == user)
    }

    @Test func `A user without a name is a number`() {
        #expect(SystemUser.shown(0) == "root (uid 0)")
        #expect(SystemUser.shown(4_000_000) == "uid 4000000")
    }
}
