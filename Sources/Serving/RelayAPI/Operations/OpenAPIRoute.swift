// SPDX-License-Identifier: Apache-2.0
import COpenAPI
import HTTPServer

/// The OpenAPI 3.1 document: `Sources/C/COpenAPI/openapi.json`, which is part of the program, and which `make openapi`
/// writes. Tests compare it with every route, every problem and every answer that they get.
enum OpenAPIDocument {
    static let bytes = [UInt8](UnsafeRawBufferPointer(start: relay_openapi(), count: relay_openapi_size()))
    static let content = PreparedContent(bytes, compressed: Gzip.compressed(bytes))
}

extension API {
    func openAPI(_ head: RequestHead) -> Response { OpenAPIDocument.content.response(to: head, isShared: true) }
}
