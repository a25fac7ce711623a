// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import Systemd

@Suite struct ServiceMessageTests {
    @Test(arguments: [
        (ServiceMessage.ready, "READY=1"),
        (.stopping, "STOPPING=1"),
        (.watchdog, "WATCHDOG=1"),
        (.reloading(at: MonotonicTime(nanoseconds: 12_345_678_901)), "RELOADING=1\nMONOTONIC_USEC=12345678"),
        (.extendTimeout(.seconds(10)), "EXTEND_TIMEOUT_USEC=10000000"),
        (.extendTimeout(.seconds(-1)), "EXTEND_TIMEOUT_USEC=0"),
        (.status("Sending a ios 2.0: 1 of 2"), "STATUS=Sending a ios 2.0: 1 of 2"),
    ])
    func `Messages are spelled as sd_notify wants them`(message: ServiceMessage, text: String) {
        #expect(message.text == text)
    }

    @Test func `A status is one line, whatever an error's text holds`() {
        #expect(ServiceMessage.status("a\nREADY=1\r\u{0}b").text == "STATUS=a READY=1  b")
    }
}
