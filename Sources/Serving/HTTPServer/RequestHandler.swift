// SPDX-License-Identifier: Apache-2.0

/// Answers the requests that a server takes in: the server's only interface to the API.
package protocol RequestHandler: AnyObject, Sendable {
    /// The names of the headers that the handler reads, in lower case; it gets only these.
    var headerNames: [String] { get }

    /// Called on the thread that serves the connection as soon as a request's head is complete; must not wait.
    func handle(_ head: RequestHead) -> any HandledRequest

    /// The answer to input that is not a request, or that came too late.
    func refuse(_ refusal: RequestRefusal) -> Response

    /// Reports a connection to the control socket by a peer that may not use it. Each request on it carries
    /// `RequestHead.refusal` too.
    func refused(_ refusal: PeerRefusal)
}

/// One request in the hands of its handler.
package protocol HandledRequest: AnyObject, Sendable {
    /// The id that every log line about this request carries (`RequestMark`).
    var id: String { get }

    /// Decides by the head alone, or returns a decision that may have to wait. Called on the thread that serves the connection.
    func open() -> Opening

    /// The answer to a request that the server refuses on its own.
    func refuse(_ refusal: RequestRefusal) -> Response

    /// Reports that the rest of a streamed answer could not be made: the client only sees the connection cut. Called on a
    /// thread that may wait.
    func failed(_ error: any Error)

    /// Returns the answer in the form in which it is sent. Called once, on the thread that serves the connection; must not wait.
    func conclude(_ response: Response) -> Response
}

/// The step that follows as soon as a request's head is there.
package enum Opening {
    case answer(Response)
    /// Decide on a thread that may wait. A collected body is finished on such a thread too.
    case work(WorkKind, @Sendable () -> Admission)
}
