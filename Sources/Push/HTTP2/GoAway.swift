// SPDX-License-Identifier: Apache-2.0

/// Why a server ended a connection, for status and logs.
package struct GoAway: Sendable, Hashable, CustomStringConvertible {
    /// RFC 9113, 7.
    package let errorCode: UInt32
    package let lastStreamID: Int32
    /// The debug data as text, at most 256 bytes; APNs sends JSON with a `reason`.
    package let debugData: String

    /// By error code.
    static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    package var description: String {
        let name = errorCode < Self.names.count ? Self.names[Int(errorCode)] : "error \(errorCode)"
        return debugData.isEmpty ? "GOAWAY \(name)" : "GOAWAY \(name) \(debugData)"
    }
}
