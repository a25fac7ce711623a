// SPDX-License-Identifier: Apache-2.0
package import Signing

/// HTTP over one connection of a simulator, without its socket: bytes in, bytes out. Belongs to the loop's thread.
package protocol SimulatorSession: AnyObject {
    /// Takes the certificate that the client has shown, before anything else.
    func clientShowed(_ certificate: ClientCertificate)
    /// Takes the bytes that a client has sent.
    /// - Returns: nil: the connection goes on. `close`, `reset` or `silence`: nothing more goes out on it; `drain`: the bytes
    ///   that are waiting to be packed are the last.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> SimulatorConnection.Need?
    /// Replaces `output` with the next bytes to write, as many as are worth one write; none if there is nothing to send now.
    func pack(into output: inout [UInt8])
    /// Whether nothing more is expected from the client, and nothing is left to send.
    var isOver: Bool { get }
    /// The answers that wait for their time; each is returned once.
    func takeDelayed() -> [DelayedAnswer]
    /// Sends an answer whose time has come.
    func answer(_ answer: DelayedAnswer)
}

extension SimulatorSession {
    package func clientShowed(_ certificate: ClientCertificate) {}
}
