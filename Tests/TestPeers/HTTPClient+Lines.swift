// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
import WireFormat

extension HTTPClient {
    /// Passes an answer to `line` line by line, without line ends, until that returns false.
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
