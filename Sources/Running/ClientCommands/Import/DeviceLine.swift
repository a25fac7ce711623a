// SPDX-License-Identifier: Apache-2.0
import Registry

/// One device of an import: its app and platform, and its line for the API.
package struct DeviceLine: Sendable, Equatable {
    /// The columns of CSV and NDJSON.
    static let columns = DeviceField.allCases

    package var app: String
    package var platform: String
    /// NDJSON without its line end.
    package var json: [UInt8]
    /// The line as it stood in the file, kept where it may have to be written again.
    package var raw: [UInt8]?

    package init(app: String, platform: String, json: [UInt8], raw: [UInt8]? = nil) {
        self.app = app
        self.platform = platform
        self.json = json
        self.raw = raw
    }
}

/// A line of an import that is not stored, and the reason.
package struct RefusedLine: Error, Sendable, Equatable {
    /// Its number in the file, from 1.
    package var line: Int
    package var reason: String
    /// As it stood in the file; nil where that was not kept.
    package var raw: [UInt8]?
}
