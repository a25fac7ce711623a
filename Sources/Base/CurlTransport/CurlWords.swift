// SPDX-License-Identifier: Apache-2.0
import CCurl
import COpenSSL

/// The reason why a transfer failed, in our words, derived from libcurl's and OpenSSL's codes and from the target.
///
/// libcurl's own texts quote its input, users and passwords too. So none of them leaves this file, which only searches them
/// for the number of OpenSSL's error.
struct CurlWords {
    var result: CURLcode
    /// The server that was dialled; nil where its address cannot be read.
    var target: Target?
    var proxy: ProxyServer?
    /// Whether a local socket was dialled instead of both.
    var isSocket = false
    /// The answer to CONNECT; 0: none.
    var connectStatus = 0
    /// X509_V_ERR_…; 0: none.
    var verifyResult = 0
    var proxyVerifyResult = 0
    var systemError: Int32 = 0
    /// CURLPX_…; 0: none.
    var proxyError = 0
    /// Whether name resolution, TCP, proxy and TLS were done.
    var isConnected = false
    /// The time-out for an answer; nil: none.
    var patience: Duration?
    var connectPatience: Duration = .zero
    /// OpenSSL's number; 0: none.
    var libraryError: UInt = 0
    /// The system's text for an errno.
    var systemText: (Int32) -> String

    /// The error's code, its reason, and a hint for the operator.
    var verdict: (code: TransportError.Code, reason: String, hint: String) {
        if let refused = refusedByProxy { return refused }
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST:
            return (.cannotConnect, "the name \(target?.host ?? "") cannot be resolved", Self.lookAtNames)
        case CURLE_COULDNT_RESOLVE_PROXY:
            return (.cannotConnect, "the name of \(theProxy) cannot be resolved", Self.lookAtNames)
        case CURLE_COULDNT_CONNECT:
            return (
                .cannotConnect, "no connection to \(next)\(systemReason)", "is it running, and reachable from here?"
            )
        case CURLE_PROXY:
            return (
                .cannotConnect, "\(theProxy) does not connect to \(there)\(Self.socks(proxyError))", "check the proxy"
            )
        case CURLE_REMOTE_ACCESS_DENIED:
            return (.cannotConnect, "\(next) denies access", proxy == nil ? "" : "check the proxy")
        case CURLE_OPERATION_TIMEDOUT:
            return isConnected
                ? (.timedOut, "no answer from \(there)" + Self.within(patience), "")
                : (.cannotConnect, "no connection to \(next)" + Self.within(connectPatience), "")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            return (.notTrusted, certificateReason, Self.lookAtTrust)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
            return (.notTrusted, "no TLS with \(tlsEnd)\(libraryReason ?? systemReason)", Self.lookAtTrust)
        case CURLE_SSL_CACERT_BADFILE:
            return (.notTrusted, "the file of trusted certificates cannot be used", Self.lookAtTrust)
        case CURLE_URL_MALFORMAT: return (.badRequest, "the address cannot be read", "")
        case CURLE_UNSUPPORTED_PROTOCOL: return (.badRequest, "the address has a scheme that is not spoken here", "")
        case CURLE_ABORTED_BY_CALLBACK: return (.cancelled, "cancelled", "")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
            let how = result == CURLE_PARTIAL_FILE ? "ended in the middle of an answer" : "broke"
            return (
                isConnected ? .broken : .cannotConnect,
                "the connection to \(isConnected ? there : next) \(how)\(libraryReason ?? systemReason)", ""
            )
        case CURLE_WEIRD_SERVER_REPLY:
            return (.broken, "\(there) answers something that is not HTTP", "")
        default:
            return (isConnected ? .broken : .cannotConnect, "\(Self.name(result)) with \(next)\(systemReason)", "")
        }
    }

    /// libcurl's error by number and name, which `libcurl-errors(3)` explains.
    static func name(_ result: CURLcode) -> String {
        let names: [UInt32: String] = [
            2: "FAILED_INIT", 4: "NOT_BUILT_IN", 8: "WEIRD_SERVER_REPLY", 16: "HTTP2", 22: "HTTP_RETURNED_ERROR",
            23: "WRITE_ERROR", 26: "READ_ERROR", 27: "OUT_OF_MEMORY", 34: "HTTP_POST_ERROR", 41: "FUNCTION_NOT_FOUND",
            43: "BAD_FUNCTION_ARGUMENT", 45: "INTERFACE_FAILED", 47: "TOO_MANY_REDIRECTS", 48: "UNKNOWN_OPTION",
            49: "SETOPT_OPTION_SYNTAX", 53: "SSL_ENGINE_NOTFOUND", 54: "SSL_ENGINE_SETFAILED",
            61: "BAD_CONTENT_ENCODING", 63: "FILESIZE_EXCEEDED", 65: "SEND_FAIL_REWIND",
            66: "SSL_ENGINE_INITFAILED", 80: "SSL_SHUTDOWN_FAILED", 81: "AGAIN", 82: "SSL_CRL_BADFILE",
            89: "NO_CONNECTION_AVAILABLE", 90: "SSL_PINNEDPUBKEYNOTMATCH", 91: "SSL_INVALIDCERTSTATUS",
            92: "HTTP2_STREAM", 93: "RECURSIVE_API_CALL", 94: "AUTH_ERROR", 96: "QUIC_CONNECT_ERROR",
            98: "SSL_CLIENTCERT", 99: "UNRECOVERABLE_POLL",
        ]
        return "libcurl's error \(result.rawValue)" + (names[result.rawValue].map { " (CURLE_\($0))" } ?? "")
    }

    // MARK: Peers

    private var there: String { target?.description ?? "the server" }

    private var theProxy: String { proxy.map { "the proxy \($0), \($0.key)," } ?? "the proxy" }

    /// The peer that the connection itself leads to.
    private var next: String { isSocket ? "the socket" : proxy == nil ? there : theProxy }

    /// The peer of the TLS handshake that failed: a proxy's handshake comes first.
    private var tlsEnd: String { isProxyTLS ? theProxy : there }

    private var isProxyTLS: Bool { proxy?.scheme == .https && connectStatus == 0 }

    private static let lookAtNames = "check the name and the resolver"
    private static let lookAtTrust = "check the host name, the clock, and the trusted certificates"

    private static func within(_ patience: Duration?) -> String {
        patience.map {
            " within \($0.components.seconds > 0 ? "\($0.components.seconds) s" : "\(Int($0 / .milliseconds(1))) ms")"
        }
            ?? ""
    }

    // MARK: Reasons

    private var systemReason: String { systemError == 0 ? "" : ": \(systemText(systemError))" }

    /// The verdict on a proxy that answers CONNECT with anything but 2xx; nil otherwise.
    private var refusedByProxy: (code: TransportError.Code, reason: String, hint: String)? {
        guard let proxy, connectStatus != 0, !(200..<300).contains(connectStatus) else { return nil }
        let says = "the proxy \(proxy) answers \(connectStatus)"
        return switch connectStatus {
        // tinyproxy answers a wrong password with 401 (RFC 9110, 15.5.8, has 407 for it).
        case 401 where proxy.user == nil, 407 where proxy.user == nil:
            (.cannotConnect, "\(says): it wants a user and a password, and \(proxy.key) names none", "name both there")
        case 401, 407:
            (
                .cannotConnect, "\(says): it does not take the user and the password of \(proxy.key)",
                "check both, and that they are the proxy's"
            )
        case 403, 405:
            (
                .cannotConnect, "\(says): it does not let connect to \(there)",
                "its rules have to allow CONNECT to it; \(proxy.key)"
            )
        case 500...599:
            (
                .cannotConnect, "\(says): it cannot reach \(there)",
                "the proxy resolves the name and connects; check both from there; \(proxy.key)"
            )
        default: (.cannotConnect, "\(says) to CONNECT \(there)", "check the proxy; \(proxy.key)")
        }
    }

    /// A SOCKS proxy's refusal, in words (RFC 1928, 6; RFC 1929, 2).
    private static func socks(_ code: Int) -> String {
        switch CURLproxycode(rawValue: UInt32(truncatingIfNeeded: code)) {
        case CURLPX_OK: ""
        case CURLPX_NO_AUTH, CURLPX_GSSAPI, CURLPX_GSSAPI_PERMSG: ": it wants a user and a password"
        case CURLPX_USER_REJECTED, CURLPX_IDENTD, CURLPX_IDENTD_DIFFER, CURLPX_REQUEST_FAILED:
            ": it does not take the user and the password"
        case CURLPX_REPLY_NOT_ALLOWED: ": its rules do not allow it"
        case CURLPX_REPLY_CONNECTION_REFUSED: ": the connection was refused there"
        case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
            ": it cannot be reached from there"
        case CURLPX_RESOLVE_HOST: ": the name cannot be resolved"
        case CURLPX_BAD_VERSION, CURLPX_UNKNOWN_FAIL: ": it is no SOCKS 5 proxy"
        case CURLPX_CLOSED, CURLPX_RECV_CONNECT, CURLPX_RECV_AUTH, CURLPX_RECV_REQACK, CURLPX_RECV_ADDRESS,
            CURLPX_SEND_CONNECT, CURLPX_SEND_AUTH, CURLPX_SEND_REQUEST:
            ": it closed the connection"
        default: " (libcurl's CURLPX \(code))"
        }
    }

    private var certificateReason: String {
        let code = isProxyTLS ? proxyVerifyResult : verifyResult
        let whose = "the certificate of \(tlsEnd)"
        switch Int32(truncatingIfNeeded: code) {
        case X509_V_OK: return "\(whose) is for another name"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
            return "\(whose) is of an authority that is not trusted here"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return "\(whose) has signed itself, and is not trusted here"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            return "\(whose) is of an authority of its own, which is not trusted here"
        case X509_V_ERR_CERT_NOT_YET_VALID: return "\(whose) does not hold yet"
        case X509_V_ERR_CERT_HAS_EXPIRED: return "\(whose) has expired"
        case X509_V_ERR_CERT_REVOKED: return "\(whose) has been revoked"
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return "\(whose) is for another name"
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: return "\(whose) has too short a key"
        case X509_V_ERR_CA_MD_TOO_WEAK: return "\(whose) is signed with too weak a digest"
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_EXTENSION:
            return "\(whose) is not for a server, or its authority may not sign"
        default: return "\(whose) is not trusted: OpenSSL's verification error \(code)"
        }
    }

    /// nil where OpenSSL has named no error.
    private var libraryReason: String? {
        guard libraryError != 0 else { return nil }
        // ERR_GET_REASON: the lower 23 bits (openssl/err.h). An alert of the peer is 1000 plus its number (RFC 8446, 6).
        let reason = libraryError & 0x7F_FFFF
        let words: String? =
            switch reason {
            case 1040: "there is no cipher or curve that both know"
            case 191, 258, 259, 266, 396, 1070: "there is no version of TLS that both speak"
            case 1116: "it wants a certificate of the relay's, and got none"
            case 1042, 1043, 1044, 1045, 1046: "it does not take the relay's certificate"
            case 1048: "it does not know the authority of the relay's certificate"
            case 1112: "it does not know the name that was asked for"
            case 1120: "it speaks none of the protocols that were offered"
            case 267: "what answers there does not speak TLS"
            case 294: "the connection ended in the middle"
            default: nil
            }
        let number = String(libraryError, radix: 16, uppercase: true)
        return
            ": \(words ?? "an error of TLS") (OpenSSL's error \(String(repeating: "0", count: max(0, 8 - number.count)))\(number))"
    }

    /// The number in "error:0A00010B:SSL routines::wrong version number"; 0 where there is none.
    static func libraryError(in text: UnsafePointer<CChar>) -> UInt {
        let text = unsafe String(cString: text)
        guard let number = text.firstMatch(of: #/error:([0-9A-F]{8}):/#)?.output.1 else { return 0 }
        return UInt(number, radix: 16) ?? 0
    }
}
