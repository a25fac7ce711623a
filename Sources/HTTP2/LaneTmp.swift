package final class Lane: Sendable {
    package init(name: String) throws {}
    package func addPool(_ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver)
        -> PoolID
    { PoolID(number: 0) }
    package func submit(_ batch: RequestBatch, to: PoolID) {}
    package func withdraw(_ pool: PoolID) {}
    package var figures: LaneFigures { LaneFigures() }
    package func stop(deadline: Duration) {}
}
