// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Testing

@Suite struct PrivateFileTests {
    /// New contents do not hide a secret in a file that other users can already read: its mode must change.
    @Test("a file that is there already gets the mode, too", arguments: [UInt32(0o600), 0o640])
    func modeOfWhatIsThere(mode: UInt32) throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/private-file-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try PrivateFile.write(Array("old and longer".utf8), to: path, mode: 0o666)
        #expect(try Self.mode(of: path) == 0o666)
        try PrivateFile.write(Array("new".utf8), to: path, mode: mode)
        #expect(try Self.mode(of: path) == mode)
        #expect(FileManager.default.contents(atPath: path) == Data("new".utf8))
    }

    @Test("a device keeps its mode")
    func modeOfADevice() throws {
        let before = try Self.mode(of: "/dev/null")
        try PrivateFile.write(Array("nothing".utf8), to: "/dev/null")
        #expect(try Self.mode(of: "/dev/null") == before)
    }

    private static func mode(of path: String) throws -> UInt32 {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return status.st_mode & 0o777
    }
}
