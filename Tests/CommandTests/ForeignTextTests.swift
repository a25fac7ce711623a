// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The texts of a library are read in one place, which has words of our own for the library's codes: its texts quote their
/// input, which may be an address with a user and a password.
@Suite struct ForeignTextTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The files that may use a function or an option that returns a text; empty: none may.
    private static let places: [(call: String, files: Set<String>)] = [
        // The buffer is searched for OpenSSL's number alone.
        ("error_buffer", ["Base/CurlTransport/EasyHandle.swift"]),
        ("errorText", ["Base/CurlTransport/EasyHandle.swift"]),
        ("curl_easy_strerror", []), ("curl_multi_strerror", []), ("curl_url_strerror", []), ("curl_share_strerror", []),
        ("debug_function", []), ("DEBUGFUNCTION", []), ("CURLOPT_VERBOSE", []),
        ("ERR_error_string", []), ("ERR_print_errors", []), ("X509_verify_cert_error_string", []),
        ("ERR_get_error_all", []), ("ERR_peek_last_error_line_data", []),
        // A table of OpenSSL's, which cannot quote any input.
        ("ERR_reason_error_string", ["Base/Signing/LibraryFailure.swift", "Base/Signing/Certificates/PKCS12.swift"]),
        ("nghttp2_strerror", []), ("nghttp2_http2_strerror", []),
        ("PQerrorMessage", ["Store/RelayStorePostgres/Connection/PostgresFailure.swift"]), ("PQresultErrorMessage", []),
        ("PQresultVerboseErrorMessage", []),
        // The system's tables of words.
        ("gai_strerror", ["Serving/HTTPServer/ListenSocket.swift"]),
        (
            #"\bstrerror\("#,
            [
                "Base/Threading/SystemError.swift", "StandIns/Demo/DemoGround.swift",
                "Running/Configuration/PrivateFile.swift",
                "Running/Configuration/FileProbe.swift",
            ]
        ),
    ]

    @Test func eachLibrarysTextIsTakenAtItsOnePlace() throws {
        let sources = Self.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") }
        #expect(files.count > 300)
        for file in files {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            // A call that a comment names does not count.
            let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(
                separator: "\n")
            for place in Self.places where !place.files.contains(file) {
                let pattern = try Regex(place.call)
                #expect(code.firstMatch(of: pattern) == nil, "\(file) takes a text by \(place.call)")
            }
        }
        for place in Self.places {
            for file in place.files {
                let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
                #expect(try text.firstMatch(of: Regex(place.call)) != nil, "\(file) has no \(place.call) any more")
            }
        }
    }
}
