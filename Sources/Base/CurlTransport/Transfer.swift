// SPDX-License-Identifier: Apache-2.0
import CCurl

/// The state of libcurl's callbacks while one request is under way. Used by the one thread that runs the request's handle.
@safe
final class Transfer {
    private let request: HTTPRequest
    private let piece: (([UInt8]) throws -> Bool)?
    private let isCancelled: () -> Bool
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var status = 0

    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// Whether the transfer was ended on purpose: then libcurl's error is not a failure.
    private(set) var isEnough = false
    private(set) var thrown: (any Error)?

    init(
        request: HTTPRequest, piece: (([UInt8]) throws -> Bool)?, isCancelled: @escaping () -> Bool
    ) {
        self.request = request
        self.piece = piece
        self.isCancelled = isCancelled
    }

    deinit { unsafe curl_slist_free_all(headerList) }

    func setHeaders(_ lines: [String], on handle: EasyHandle) -> CURLcode {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headerList, line) else { return CURLE_OUT_OF_MEMORY }
            unsafe headerList = longer
        }
        return unsafe relay_curl_set_http_header(handle.pointer, headerList)
    }

    static func from(_ data: UnsafeMutableRawPointer?) -> Transfer? {
        // SAFETY: set in HTTPClient.configure to a Transfer that the handle keeps.
        guard let data = unsafe data else { return nil }
        return unsafe Unmanaged<Transfer>.fromOpaque(data).takeUnretainedValue()
    }

    func header(_ bytes: UnsafeRawBufferPointer) {
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // An answer begins, perhaps after an interim one (100, 103): only the last one counts.
            headers = []
            status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...]
            headers.append((String(text[..<colon]), Self.trimmed(value)))
        }
    }

    /// Returns whether to go on.
    func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let piece, (200..<300).contains(status) else {
            guard body.count + bytes.count <= request.maximumResponse else {
                guard !request.cutsResponse else {
                    unsafe body.append(contentsOf: bytes.prefix(request.maximumResponse - body.count))
                    isEnough = true
                    return false
                }
                isTooLarge = true
                return false
            }
            unsafe body.append(contentsOf: bytes)
            return true
        }
        do {
            isEnough = unsafe try !piece(Array(bytes))
            return !isEnough
        } catch {
            thrown = error
            return false
        }
    }

    var shouldStop: Bool { isCancelled() }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}

func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ data: UnsafeMutableRawPointer?)
    -> Int
{
    guard let transfer = unsafe Transfer.from(data) else { return 0 }
    unsafe transfer.header(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return size * count
}

func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ data: UnsafeMutableRawPointer?) -> Int
{
    guard let transfer = unsafe Transfer.from(data) else { return 0 }
    // Anything but the count given ends the transfer with CURLE_WRITE_ERROR (CURLOPT_WRITEFUNCTION(3)).
    return unsafe transfer.received(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : -1
}

func showProgress(
    _ data: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
    guard let transfer = unsafe Transfer.from(data) else { return 1 }
    return transfer.shouldStop ? 1 : 0
}
