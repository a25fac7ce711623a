// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// What the push services have seen, and what is known of it.
struct PushRecord {
    /// Pushes that were taken: by app and token, the versions.
    private(set) var taken: [String: Set<Int>] = [:]
    /// By app and token: the token that took its place.
    private var successors: [String: String] = [:]
    /// Whom the last of each version was for, by app, token and version.
    private var users: [String: Int] = [:]
    /// Taken and come back, and perhaps not in the store yet.
    var returned: [SeenPush] = []
    /// Of devices that another program has deleted.
    var deletedRows: Set<Int64?> = []
    /// Tokens that were ever called dead, by app and token.
    var calledDead: Set<String> = []
    /// By campaign: tokens that a service calls wrong, which no later try betters.
    var calledWrong: [String: Set<String>] = [:]
    /// Living tokens that were called dead in each weather of each place, and all other answers then.
    var madness: [Madness] = []
    /// Campaigns of which a person has accepted that their tokens are dead, and whom services called dead there after that: he is believed.
    var acceptedCampaigns: Set<String> = []
    var acceptedTokens: Set<String> = []
    /// Of batches that are out: the answers so far. The relay judges a service by whole batches.
    var answers: [ObjectIdentifier: Answers] = [:]
    /// By place: whether each of the last pushes that it was sent for the first time was answered by something else than a 5xx.
    private(set) var firstAnswers: [PushPlace: [Bool]] = [:]
    /// By app and token: the push that was answered last.
    private var answered: [String: String] = [:]
    /// Places that want to be left alone.
    var pauses: [PushPlace: KeyPause] = [:]
    /// When each push may go out again at the earliest, by its id.
    var retries: [String: Retry] = [:]
    /// How often each push, by its id, was refused for the credential within a minute.
    var refusals: [String: (since: MonotonicTime, count: Int)] = [:]
    /// Pushes, by their ids, that were on their way when a person had their campaign sent again.
    var sentBefore: Set<String> = []
    /// By campaign: tokens that were refused for the credential alone, in batches of which a service has taken nothing, nor of those after.
    var faults: [String: Set<String>] = [:]
    /// Whether the records of the past were ever pruned.
    var wasPruned = false

    struct Madness {
        var place: PushPlace
        var tokens: Set<String> = []
        var others = 0
        /// Whether a person had a campaign go on all the same, or they were judged beside good answers, or are too few to be.
        var isAccepted = false

        /// Whether nearly all answers called living tokens dead: nobody may be lost to that.
        var isMad: Bool { !isAccepted && tokens.count >= 20 && tokens.count >= 9 * others }
    }

    struct Answers {
        /// In which weather: that of the last living token that was called dead, where one was.
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
        /// Since when that is known.
        var since: MonotonicTime
        var until: MonotonicTime
        /// Of the batch that was told so; it is recorded when that is back. nil: it is.
        var batch: ObjectIdentifier?
        /// Whether the store could take it, which the next life of the process needs.
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
        // As many as the relay judges a service by.
        firstAnswers[place] = firstAnswers[place, default: []].suffix(19) + [answer.status < 500]
    }

    mutating func took(_ push: SeenPush, version: Int) {
        let name = name(push.app, push.token)
        taken[name, default: []].insert(version)
        users["\(name)/\(version)"] = Phone.user(push.telephone)
    }

    /// A phone has another token: what was taken for it was.
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

    /// Whom a service has called dead so far may be retired; what it says next is judged anew.
    mutating func judgedSane(_ index: Int) {
        let place = madness[index].place
        guard !madness[index].isAccepted, !madness[index].tokens.isEmpty else { return madness[index].others = 0 }
        madness[index].isAccepted = true
        if madness.lastIndex(where: { $0.place == place }) == index { madness.append(Madness(place: place)) }
    }

    /// Tokens of phones that a service has called dead with nearly all others. Whom it had called dead before, when it did not seem mad, is
    /// not lost to that; nor is whom it calls dead again after it was judged beside good answers.
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
    /// - Parameter inFlight: its pushes on their way: what a service says to them is as if it had been said before.
    mutating func forgetRetries(of campaign: String, inFlight: [String]) {
        sentBefore.formUnion(inFlight)
        let prefix = campaign.prefix(8) + "-" + campaign.dropFirst(8)
        retries = retries.filter { !$0.key.hasPrefix(prefix) }
    }

    /// What was on its way and what waited died with the process.
    mutating func processDied() {
        returned = []
        (retries, sentBefore, answers) = ([:], [], [:])
        pauses = pauses.filter { $0.value.isKept }
    }
}
