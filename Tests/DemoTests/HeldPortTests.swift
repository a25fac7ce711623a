// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer
import Testing

@testable import Demo

@Suite struct HeldPortTests {
    /// The error of a program that binds the port as most do, without SO_REUSEADDR; 0 where it gets the port.
    private func bind(_ port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                let status = unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                return status == 0 ? 0 : errno
            }
        }
    }

    /// A demo takes its port seconds before its daemon listens: the server of its database starts in between.
    @Test func noOtherProgramGetsThePortBeforeTheDaemonListens() throws {
        let port = try HeldPort()
        #expect(port.number != 0)
        #expect(bind(port.number) == EADDRINUSE)
        let address = ListenAddress(host: "127.0.0.1", port: port.number)
        // Twice: a relay that was killed comes back to its port.
        for _ in 0..<2 {
            let daemon = try ListenSocket.network(address)
            #expect(throws: ServerStartError.self) { try ListenSocket.network(address) }
            close(daemon)
            #expect(bind(port.number) == EADDRINUSE)
        }
    }

    @Test func theEndOfTheDemoFreesIt() throws {
        let number = try HeldPort().number
        #expect(bind(number) == 0)
    }
}
