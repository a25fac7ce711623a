// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Folders for files that tests leave behind; removed when the process ends in order.
package enum TestFolder {
    /// Made with the first folder.
    private static let root: String = {
        var template = Array("/tmp/upgrade-relay-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("mkdtemp: error \(errno)") }
        atexit { try? FileManager.default.removeItem(atPath: TestFolder.root) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// A new, empty folder.
    package static func make() throws -> String {
        var template = Array("\(root)/XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PeerError("mkdtemp: error \(errno)") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
