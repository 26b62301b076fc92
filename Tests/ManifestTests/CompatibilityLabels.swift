import Manifest

/// Rows about labels.
extension Row {
    private static func indexed(_ labels: String...) -> Side {
        .gives("y: float32[?]").with { $0.labels = labels }
    }

    private static func keyed(_ labels: String...) -> Side {
        .gives("y: map to float32[]").with { $0.labels = labels }
    }

    static let labels: [Row] = [
        Row(23, "the same labels by index", indexed("a", "b"), indexed("a", "b"), .fits, .patch),
        Row(23, "the same labels by name", keyed("a", "b"), keyed("a", "b"), .fits, .patch),
        Row(23, "an app that knows no labels", indexed(), indexed("a", "b"), .fits),
        Row(
            24,
            "labels in another order, by index",
            indexed("a", "b"),
            indexed("b", "a"),
            .refused("labels: the app knows `a` at 0, the model has `b` there; take the labels from"),
            .major
        ),
        Row(
            24,
            "labels in another order, by name",
            keyed("a", "b"),
            keyed("b", "a"),
            .fitsNoting("in another order"),
            .minor
        ),
        Row(
            25,
            "a new label by name, and the app is open",
            keyed("a", "b").with { $0.hasOpenLabels = true },
            keyed("a", "c", "b"),
            .fitsNoting("the model has 3 class labels, and the app is open to new ones"),
            .minor
        ),
        Row(
            25,
            "a new label by name, and the app is not open",
            keyed("a", "b"),
            keyed("a", "b", "c"),
            .refused("labels: the app knows 2 of them, the model has 3; say `open_labels` if"),
            .minor
        ),
        Row(
            25,
            "a new label at the end by index, and the app is open",
            indexed("a", "b").with { $0.hasOpenLabels = true },
            indexed("a", "b", "c"),
            .fitsNoting("open to new ones"),
            .major
        ),
        Row(
            25,
            "a new label at the end by index, and the app is not open",
            indexed("a", "b"),
            indexed("a", "b", "c"),
            .refused("say `open_labels`"),
            .major
        ),
        Row(
            24,
            "a label that two classes have and then one, by name",
            keyed("a", "b", "b"),
            keyed("a", "b"),
            .fitsNoting("the app finds them by name"),
            .minor
        ),
        Row(
            25,
            "a new label in the place of one that two classes had, by name",
            keyed("a", "b", "b"),
            keyed("a", "b", "c"),
            .refused("labels: the app knows `b` at 2, the model has `c` there; say `open_labels` if"),
            .minor
        ),
        Row(
            26,
            "a label that two classes have and then one, by index",
            indexed("a", "b", "b"),
            indexed("a", "b"),
            .refused("labels: the app knows 3 of them, the model has 2"),
            .major
        ),
        Row(
            26,
            "a label in the middle by index, whatever the app is open to",
            indexed("a", "b").with { $0.hasOpenLabels = true },
            indexed("a", "c", "b"),
            .refused("labels: the app knows `b` at 1, the model has `c` there; make the app know"),
            .major
        ),
        Row(
            26,
            "a label that is gone, by index",
            indexed("a", "b"),
            indexed("a"),
            .refused(
                "labels: the app knows 2 of them, the model has 1; make the app know the model's labels"
            ),
            .major
        ),
        Row(
            26,
            "a label that was renamed, by name",
            keyed("a", "b").with { $0.hasOpenLabels = true },
            keyed("a", "c", "d"),
            .refused("labels: the app knows `b`, the model has no label of that name"),
            .major
        ),
        Row(
            26,
            "labels that are all gone",
            keyed("a", "b"),
            keyed(),
            .refused("does not say its own"),
            .major
        ),
    ]

    private static func function(_ type: String, _ labels: String..., beside own: [String] = []) -> Side {
        Side().with {
            $0.outputs = ["z: float32[2]"]
            $0.labels = own
            $0.functions = ["f": type]
            $0.defaultFunction = "main"
            if !labels.isEmpty { $0.functionLabels = ["f": labels] }
        }
    }

    /// Of a function that is not the default one.
    static let functionLabels: [Row] = [
        Row(
            23,
            "the same",
            function("float32[2]", "a", "b"),
            function("float32[2]", "a", "b"),
            .fits,
            .patch
        ),
        Row(
            24,
            "another order in a function, by index",
            function("float32[2]", "a", "b"),
            function("float32[2]", "b", "a"),
            .refused("function `f`, labels: the app knows `a` at 0, the model has `b` there"),
            .major
        ),
        Row(
            24,
            "another order in a function, by name",
            function("string[?]", "a", "b"),
            function("string[?]", "b", "a"),
            .fitsNoting("function `f`, the class labels are in another order"),
            .minor
        ),
        Row(
            25,
            "a new label in a function, and the app is open",
            function("string[?]", "a", "b").with { $0.hasOpenLabels = true },
            function("string[?]", "a", "b", "c"),
            .fitsNoting("function `f`, the model has 3 class labels"),
            .minor
        ),
        Row(
            25,
            "a new label in a function, and the app is not open",
            function("string[?]", "a", "b"),
            function("string[?]", "a", "b", "c"),
            .refused("function `f`, labels: the app knows 2 of them, the model has 3; say `open_labels`"),
            .minor
        ),
        Row(
            26,
            "a label of a function is another",
            function("float32[2]", "a", "b"),
            function("float32[2]", "a", "c"),
            .refused("function `f`, labels: the app knows `b` at 1, the model has `c` there"),
            .major
        ),
        Row(
            26,
            "a label of the default function is another beside a function of its own labels",
            function("float32[2]", "p", "q", beside: ["a", "b"]),
            function("float32[2]", "p", "q", beside: ["a", "c"]),
            .refused("labels: the app knows `b` at 1, the model has `c` there"),
            .major
        ),
        Row(
            26,
            "the labels of a function are gone",
            function("float32[2]", "a", "b"),
            function("float32[2]"),
            .refused("function `f`, labels: the app knows 2 class labels, the model does not say its own"),
            .major
        ),
        Row(
            33,
            "a new function that classifies otherwise",
            .gives("z: float32[2]").with {
                $0.labels = ["a", "b"]
                $0.defaultFunction = "main"
            },
            function("float32[2]", "p", "q", beside: ["a", "b"]),
            .fits,
            .minor
        ),
        Row(
            33,
            "other labels of a function that the app does not call",
            .gives("z: float32[2]").with { $0.defaultFunction = "main" },
            function("float32[2]", "p", "q"),
            .fits
        ),
    ]
}
