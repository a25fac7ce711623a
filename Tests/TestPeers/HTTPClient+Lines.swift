// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
import WireFormat

extension HTTPClient {
    /// An answer line by line, without their ends, until `line` answers false.
    package func lines(_ request: HTTPRequest, _ line: @escaping ([UInt8]) throws -> Bool) throws -> HTTPResponse {
        var splitter = LineSplitter(limit: 1 << 20)
        var goesOn = true
        return try pieces(request) { piece in
            try splitter.feed(piece) { bytes, range, _ in
                if goesOn, let range { goesOn = try line(Array(bytes[range])) }
            }
            return goesOn
        }
    }
}
