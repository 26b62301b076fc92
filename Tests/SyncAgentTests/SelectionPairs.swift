import Manifest

extension Selection {
    /// Each pair of the precedence, the former winning: denied and recalled, floor, quarantine, pin, `replaces`, highest.
    static let pairs: [Selection] = [
        Selection(
            name: "denied over recalled: the denial is the reason",
            listed: list("1.2.0", "1.3.0"),
            states: ["1.3.0": .recalled],
            denied: ["1.3.0"],
            expected: ["1.2.0"],
            passedOver: ["1.3.0": "denied"],
            mustLeave: true
        ),
        Selection(
            name: "recall over floor: what is below is left, although nothing at the floor is there",
            listed: list("1.2.0", "1.3.0"),
            floor: "1.4.0",
            states: ["1.3.0": .recalled],
            expected: [],
            passedOver: ["1.3.0": "recalled", "1.2.0": "below the floor"],
            mustLeave: true
        ),
        Selection(
            name: "recall over quarantine: what was quarantined is no way out",
            listed: list("1.1.0", "1.2.0", "1.3.0"),
            states: ["1.3.0": .recalled],
            quarantined: ["1.2.0"],
            expected: ["1.1.0"],
            passedOver: ["1.3.0": "recalled", "1.2.0": "crashed here"],
            mustLeave: true
        ),
        Selection(
            name: "recall over pin: the pinned version is left",
            listed: list("1.2.0", "1.3.0"),
            states: ["1.3.0": .recalled],
            pin: "1.3.0",
            expected: ["1.2.0"],
            passedOver: ["1.3.0": "recalled"],
            mustLeave: true
        ),
        Selection(
            name: "recall over pin: the pin is no reason to stay when its version cannot be taken",
            listed: list("1.2.0", "1.3.0"),
            denied: ["1.3.0"],
            held: ["1.5.0"],
            pin: "1.5.0",
            expected: ["1.2.0"],
            passedOver: ["1.3.0": "denied"],
            mustLeave: true
        ),
        Selection(
            name: "recall over replaces: a recalled version replaces nothing",
            listed: [("1.2.0", 10_000, ["1.3.0"]), ("1.1.0", 10_000, ["1.3.0"])],
            states: ["1.2.0": .recalled],
            expected: ["1.1.0"]
        ),
        Selection(
            name: "recall over highest: the highest is not taken",
            states: ["1.4.0": .recalled],
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "recalled"]
        ),
        Selection(
            name: "floor over quarantine: the floor is the reason",
            active: nil,
            listed: list("1.2.0", "1.3.0"),
            floor: "1.3.0",
            quarantined: ["1.2.0"],
            expected: ["1.3.0"],
            passedOver: ["1.2.0": "below the floor"]
        ),
        Selection(
            name: "floor over pin: a pinned version below it does not hold the device back",
            floor: "1.4.0",
            pin: "1.3.0",
            expected: ["1.4.0"],
            passedOver: ["1.3.0": "below the floor"]
        ),
        Selection(
            name: "floor over pin: a pin that cannot be taken does not keep what is too low",
            floor: "1.4.0",
            states: ["1.5.0": .yanked],
            pin: "1.5.0",
            expected: ["1.4.0"],
            passedOver: ["1.3.0": "below the floor"]
        ),
        Selection(
            name: "floor over replaces: what replaces is too low",
            listed: [("1.2.0", 10_000, ["1.3.0"])],
            floor: "1.3.0",
            expected: []
        ),
        Selection(
            name: "floor over highest: the highest is too low",
            listed: list("1.3.0", "1.4.0"),
            localFloor: "1.5.0",
            expected: [],
            passedOver: ["1.3.0": "below the floor 1.5.0", "1.4.0": "below the floor 1.5.0"]
        ),
        Selection(
            name: "quarantine over pin: the pinned version is not taken again",
            pin: "1.5.0",
            quarantined: ["1.5.0"],
            expected: [],
            passedOver: ["1.5.0": "crashed here", "1.4.0": "1.5.0 is pinned"]
        ),
        Selection(
            name: "quarantine over replaces: what replaces is not taken again",
            listed: [("1.2.0", 10_000, ["1.3.0"]), ("1.1.0", 10_000, ["1.3.0"])],
            quarantined: ["1.2.0"],
            expected: ["1.1.0"]
        ),
        Selection(
            name: "quarantine over highest: the next one is taken",
            listed: list("1.3.0", "1.4.0", "1.5.0"),
            quarantined: ["1.5.0"],
            expected: ["1.4.0", "1.3.0"],
            passedOver: ["1.5.0": "crashed here"]
        ),
        Selection(
            name: "pin over replaces: the device stays with what is pinned",
            listed: [("1.2.0", 10_000, ["1.3.0"])],
            pin: "1.3.0",
            expected: ["1.3.0"],
            passedOver: ["1.2.0": "1.3.0 is pinned"]
        ),
        Selection(
            name: "pin over highest",
            pin: "1.3.0",
            expected: ["1.3.0"],
            passedOver: ["1.4.0": "1.3.0 is pinned"]
        ),
        Selection(
            name: "replaces over highest: the active one is higher, and left",
            active: "1.5.0",
            listed: [("1.4.0", 10_000, ["1.5.0"]), ("1.3.0", 10_000, ["1.5.0"])],
            expected: ["1.4.0", "1.3.0"]
        ),
    ]
}
