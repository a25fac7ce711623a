// SPDX-License-Identifier: Apache-2.0

/// What answers the requests that a server takes in: the one door between the two.
package protocol RequestHandler: AnyObject, Sendable {
    /// The headers that it reads, in lower case; no others are handed to it.
    var headerNames: [String] { get }

    /// A request's head is complete. On the thread that serves the connection: must not wait.
    func handle(_ head: RequestHead) -> any HandledRequest

    /// What a client is told of what is no request, or came too late to be one.
    func refuse(_ refusal: RequestRefusal) -> Response

    /// Somebody connected to the control socket who has no business there. Whatever they ask for, `RequestHead.refusal` says
    /// so too.
    func refused(_ refusal: PeerRefusal)
}

/// One request in the hands of its handler.
package protocol HandledRequest: AnyObject, Sendable {
    /// What every log line that is written for it carries (`RequestMark`).
    var id: String { get }

    /// Decides by the head alone, or says that the decision may have to wait. On the thread that serves the connection.
    func open() -> Opening

    /// What the client is told of what the server refuses by itself.
    func refuse(_ refusal: RequestRefusal) -> Response

    /// The rest of a streamed answer could not be made: its client only sees the connection cut. On a thread that may wait.
    func failed(_ error: any Error)

    /// The answer as it goes out. Called once, on the thread that serves the connection: must not wait.
    func conclude(_ response: Response) -> Response
}

/// What is done about a request as soon as its head is there.
package enum Opening {
    case answer(Response)
    /// To be decided on a thread that may wait, and on such a one a collected body is finished too.
    case work(WorkKind, @Sendable () -> Admission)
}
