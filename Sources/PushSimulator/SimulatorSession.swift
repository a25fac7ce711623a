// SPDX-License-Identifier: Apache-2.0
package import Signing

/// HTTP over one connection of a simulator, without its socket: bytes in, bytes out. Belongs to the loop's thread.
package protocol SimulatorSession: AnyObject {
    /// The certificate that the client has shown, before anything else.
    func clientShowed(_ certificate: ClientCertificate)
    /// Takes what a client has sent.
    /// - Returns: nil: the connection goes on. `close`, `reset` or `silence`: nothing goes out on it any
    ///   more; `drain`: what is packed by then is the last.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> SimulatorConnection.Need?
    /// Appends what is to be written, as much as is worth one write; nothing where all is said for now.
    func pack(into output: inout [UInt8])
    /// Nothing is expected of the client, and nothing is left to be said.
    var isOver: Bool { get }
    /// The answers that wait for their time, once each.
    func takeDelayed() -> [DelayedAnswer]
    /// Their time has come.
    func answer(_ answer: DelayedAnswer)
}

extension SimulatorSession {
    package func clientShowed(_ certificate: ClientCertificate) {}
}
