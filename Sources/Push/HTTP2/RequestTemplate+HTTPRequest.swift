// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine

extension RequestTemplate {
    /// One request of a batch, written out for a client that knows no templates.
    ///
    /// - Parameters:
    ///   - place: the request's place in the batch.
    ///   - origin: the server that is dialled; the request names `:authority`, as Host.
    func request(_ place: Int, of bytes: RequestBytes, to origin: Origin) -> HTTPRequest {
        func content(_ value: Value) -> ArraySlice<UInt8> {
            switch value {
            case .constant(let constant): return constant[...]
            case .slot(let slot):
                let slice = bytes.slots[place * slotCount + slot]
                return slice.isAbsent ? [] : bytes.arena[slice.range]
            }
        }
        var (method, path, headers) = ("GET", "/", [(name: String, value: String)]())
        for field in fields {
            let value = String(decoding: content(field.value), as: UTF8.self)
            switch String(decoding: field.name, as: UTF8.self) {
            case ":method": method = value
            case ":path": path = value
            case ":authority": headers.append(("host", value))
            case ":scheme": break
            case let name: headers.append((name, value))
            }
        }
        var request = HTTPRequest(method, "\(origin)\(path)")
        request.headers = headers
        if !body.isEmpty { request.body = body.flatMap(content) }
        return request
    }
}
