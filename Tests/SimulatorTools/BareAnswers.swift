// SPDX-License-Identifier: Apache-2.0
package import PushSimulator
import WireFormat

/// The answers of bare mode to any request: HTTP/2 frames that are complete except for their stream.
package struct BareAnswers: Sendable {
    struct Answer {
        /// HEADERS, followed by DATA if the answer has a body.
        var bytes: [UInt8]
        /// Where DATA begins; 0: there is no DATA.
        var secondFrame = 0
    }

    /// The answer to the first request of a connection, which may be one for an access token.
    let first: Answer
    let later: Answer

    package init(_ service: SimulatedService) {
        if let project = service.customer as? FCMProject {
            let name = JSONMember(
                name: "name",
                value: .string("projects/\(project.projectID)/messages/0:1700000000000000%0123456789abcdef01234567"))
            let access = [
                JSONMember(name: "access_token", value: .string("bare")),
                JSONMember(name: "expires_in", value: .integer(project.tokenLifetime)),
                JSONMember(name: "token_type", value: .string("Bearer")),
            ]
            first = Self.fcm(.object([name] + access))
            later = Self.fcm(.object([name]))
        } else {
            first = Self.apns
            later = first
        }
    }

    /// HEADERS with END_STREAM and END_HEADERS, still of stream 0: ":status: 200" of the static table, and as "literal never
    /// indexed" (RFC 7541, 6.2.3) "apns-id: 123e4567-e89b-12d3-a456-426614174000" in Huffman code, both as nghttp2 encodes
    /// them, so that a client has as much to decode as of real answers.
    private static let apns = Answer(bytes: [
        0, 0, 35, 1, 5, 0, 0, 0, 0,
        0x88, 0x10, 0x85, 0x1d, 0x75, 0x21, 0x63, 0x49, 0x9a, 0x08, 0x99, 0x2b, 0x4d, 0xb8, 0xea, 0xc5, 0x79, 0xf8,
        0xd6, 0x08, 0xa4, 0x65, 0x61, 0xb4, 0xdb, 0x8b, 0x34, 0x27, 0x1c, 0x0b, 0x41, 0x75, 0xa0, 0x00, 0x1f,
    ])

    /// HEADERS with END_HEADERS: ":status: 200", and "content-type" (31 of the static table) as "literal without indexing"
    /// (RFC 7541, 6.2.2); then DATA with END_STREAM.
    private static func fcm(_ json: JSONValue) -> Answer {
        let type = Array("application/json; charset=UTF-8".utf8)
        let block: [UInt8] = [0x88, 0x0f, 31 - 15, UInt8(type.count)] + type
        let headers: [UInt8] = [0, 0, UInt8(block.count), 1, 4, 0, 0, 0, 0] + block
        let body = json.bytes(isPretty: true) + [UInt8(ascii: "\n")]
        let data: [UInt8] = [0, UInt8(body.count >> 8), UInt8(body.count & 255), 0, 1, 0, 0, 0, 0] + body
        return Answer(bytes: headers + data, secondFrame: headers.count)
    }
}
