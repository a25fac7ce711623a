// SPDX-License-Identifier: Apache-2.0

/// The way out: the proxy, and the certificates to trust. Every client and every dialler is made with one, and reads nothing
/// from the environment.
package struct Egress: Sendable, Hashable {
    /// nil: none.
    package var proxy: ProxyServer?
    /// The servers that are reached without the proxy.
    package var exceptions: [ProxyException] = []
    /// A PEM file of certificates to trust instead of the system's; nil: the system's.
    package var trustedCertificates: String?
    /// A PEM file of certificates to trust beside the system's, also for an https proxy. Where `trustedCertificates` is given,
    /// this one is for the proxy alone.
    package var addedCertificates: String?

    /// No proxy, and the system's certificates.
    package static let direct = Egress()

    package init(proxy: ProxyServer? = nil, trustedCertificates: String? = nil) {
        self.proxy = proxy
        self.trustedCertificates = trustedCertificates
    }

    /// The proxy that leads to a server; nil: the server is dialled directly.
    ///
    /// - Parameter host: a DNS name or an IP address, without brackets. It is not resolved: the proxy may do that.
    package func proxy(to host: String, port: UInt16) -> ProxyServer? {
        exceptions.contains { $0.covers(host, port: port) } ? nil : proxy
    }

    /// The way to a server, for people: "directly", "by the proxy proxy.example:3128, trusting /ca.pem beside the system's".
    package func way(to host: String, port: UInt16) -> String {
        let way = proxy(to: host, port: port).map { "by the proxy \($0)" } ?? "directly"
        if let trustedCertificates { return "\(way), trusting \(trustedCertificates)" }
        return way + (addedCertificates.map { ", trusting \($0) beside the system's" } ?? "")
    }

    /// The same for an address: "https://example.com/path".
    package func way(to url: String) -> String {
        guard let target = Target(url: url) else { return "nowhere: its address cannot be read" }
        return way(to: target.host, port: target.port)
    }
}
