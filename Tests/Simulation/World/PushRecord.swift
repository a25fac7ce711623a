// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// The pushes that the push services have seen, and what is known of them.
struct PushRecord {
    /// By app and token: the versions of the pushes that were taken.
    private(set) var taken: [String: Set<Int>] = [:]
    /// By app and token: the token that took its place.
    private var successors: [String: String] = [:]
    /// By app, token and version: the user of the last push that was taken.
    private var users: [String: Int] = [:]
    /// Pushes that were taken, whose batch is back; perhaps not in the store yet.
    var returned: [SeenPush] = []
    /// Rows of devices that another program has deleted.
    var deletedRows: Set<Int64?> = []
    /// Tokens that were ever called dead, by app and token.
    var calledDead: Set<String> = []
    /// By campaign: tokens that a service calls wrong, which no later try changes.
    var calledWrong: [String: Set<String>] = [:]
    /// Living tokens that were called dead in each weather of each place, and the number of all other answers then.
    var madness: [Madness] = []
    /// Campaigns whose dead tokens a person has accepted, and the tokens that services called dead there after that: the person is
    /// believed.
    var acceptedCampaigns: Set<String> = []
    var acceptedTokens: Set<String> = []
    /// By batch that is out: the answers so far. The relay judges a service by whole batches.
    var answers: [ObjectIdentifier: Answers] = [:]
    /// By place: whether each of the last pushes that were sent there for the first time was answered by anything but a 5xx.
    private(set) var firstAnswers: [PushPlace: [Bool]] = [:]
    /// By app and token: the push that was answered last.
    private var answered: [String: String] = [:]
    /// Places that asked for a pause.
    var pauses: [PushPlace: KeyPause] = [:]
    /// When each push may go out again at the earliest, by its id.
    var retries: [String: Retry] = [:]
    /// How often each push, by its id, was refused for the credential within a minute.
    var refusals: [String: (since: MonotonicTime, count: Int)] = [:]
    /// Pushes, by their ids, that were on their way when a person had their campaign sent again.
    var sentBefore: Set<String> = []
    /// By campaign: tokens that were refused for the credential alone, since a service last took one of its pushes or called a token dead.
    var faults: [String: Set<String>] = [:]
    /// Whether the records of the past were ever pruned.
    var wasPruned = false

    struct Madness {
        var place: PushPlace
        var tokens: Set<String> = []
        var others = 0
        /// Whether a person let a campaign go on all the same, or the tokens were judged beside good answers, or are too few to be judged.
        var isAccepted = false

        /// Whether nearly all answers called living tokens dead: no device may be lost to such answers.
        var isMad: Bool { !isAccepted && tokens.count >= 20 && tokens.count >= 9 * others }
    }

    struct Answers {
        /// The weather, as an index: that of the last living token that was called dead, else that of the batch.
        var entry: Int
        /// Living tokens that were called dead.
        var dead: Set<String> = []
        var others = 0

        mutating func calledDead(_ token: String, in entry: Int) {
            self.entry = entry
            dead.insert(token)
        }
    }

    struct KeyPause {
        /// Since when the pause is known.
        var since: MonotonicTime
        var until: MonotonicTime
        /// The batch that was answered with the pause, which is recorded when the batch is back. nil: it is back.
        var batch: ObjectIdentifier?
        /// Whether the store could take the pause: only then does the next life of the process know it.
        var isKept = false
        /// Whether the outcomes of its batch wait for the disk.
        var waits = false
    }

    struct Retry {
        var app: Int
        var notBefore: MonotonicTime
    }

    mutating func note(_ answer: ServiceAnswer, to push: SeenPush, at place: PushPlace) {
        guard answered.updateValue(push.id, forKey: "\(push.app)/\(push.token)") != push.id else { return }
        // As many answers as the relay judges a service by.
        firstAnswers[place] = firstAnswers[place, default: []].suffix(19) + [answer.status < 500]
    }

    mutating func took(_ push: SeenPush, version: Int) {
        let name = name(push.app, push.token)
        taken[name, default: []].insert(version)
        users["\(name)/\(version)"] = Phone.user(push.telephone)
    }

    /// A phone has a new token: the pushes that were taken for the old one count for it.
    mutating func moved(_ app: Int, from old: String, to new: String) {
        successors["\(app)/\(old)"] = "\(app)/\(new)"
        for version in taken["\(app)/\(old)"] ?? [] {
            taken["\(app)/\(new)", default: []].insert(version)
            users["\(app)/\(new)/\(version)"] = users["\(app)/\(old)/\(version)"]
        }
    }

    private func name(_ app: Int, _ token: String) -> String {
        var name = "\(app)/\(token)"
        while let next = successors[name] { name = next }
        return name
    }

    func user(of token: String, _ app: Int, _ version: Int) -> Int? { users["\(app)/\(token)/\(version)"] }

    func has(_ app: Int, _ token: String, _ version: Int) -> Bool {
        taken["\(app)/\(token)"]?.contains(version) ?? false
    }

    /// A batch is back.
    mutating func hear(_ batch: ObjectIdentifier) {
        guard let answers = answers.removeValue(forKey: batch) else { return }
        madness[answers.entry].tokens.formUnion(answers.dead)
        madness[answers.entry].others += answers.others
    }

    /// A campaign has ended: fewer than twenty answers are too few to judge a service by, and no later ones come.
    mutating func ended(campaignOf app: Int) {
        for index in madness.indices where madness[index].place.app == app && madness[index].tokens.count < 20 {
            judgedSane(index)
        }
    }

    /// Tokens that a service has called dead so far may be retired; its later answers are judged anew.
    mutating func judgedSane(_ index: Int) {
        let place = madness[index].place
        guard !madness[index].isAccepted, !madness[index].tokens.isEmpty else { return madness[index].others = 0 }
        madness[index].isAccepted = true
        if madness.lastIndex(where: { $0.place == place }) == index { madness.append(Madness(place: place)) }
    }

    /// Tokens of phones that a service has called dead with nearly all others. Not among them are tokens that it had called dead before,
    /// when it did not seem mad, and tokens that it calls dead again after it was judged beside good answers.
    var mad: Set<String> {
        var (mad, dead): (Set<String>, Set<String>) = ([], acceptedTokens)
        var wasAccepted: Set<PushPlace> = []
        for one in madness {
            if one.isMad {
                mad.formUnion(one.tokens.subtracting(dead))
            } else {
                dead.formUnion(one.tokens)
                if wasAccepted.contains(one.place) { mad.subtract(one.tokens) }
            }
            if one.isAccepted { wasAccepted.insert(one.place) } else { wasAccepted.remove(one.place) }
        }
        return mad
    }

    /// A person has a campaign sent again.
    ///
    /// - Parameter inFlight: the campaign's pushes on their way: answers to them count as answers from before.
    mutating func forgetRetries(of campaign: String, inFlight: [String]) {
        sentBefore.formUnion(inFlight)
        let prefix = campaign.prefix(8) + "-" + campaign.dropFirst(8)
        retries = retries.filter { !$0.key.hasPrefix(prefix) }
    }

    /// The pushes on their way, and those that waited, died with the process.
    mutating func processDied() {
        returned = []
        (retries, sentBefore, answers) = ([:], [], [:])
        pauses = pauses.filter { $0.value.isKept }
    }
}
