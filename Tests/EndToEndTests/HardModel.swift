/// Models that look as harmless as `TestModel`, and are not: what they do is only seen when they run.
enum HardModel {
    /// y = x + 1 + 1 + …, without an end in a lifetime.
    static func endless() -> [UInt8] {
        let body =
            TestModel.message(1, TestModel.node("Identity", ["go"], "goes"))
            + TestModel.message(1, TestModel.node("Add", ["sum", "one"], "sums"))
            + TestModel.text(2, "body") + TestModel.message(11, scalarPort("turn", 7))
            + TestModel.message(11, scalarPort("go", 9)) + TestModel.message(11, TestModel.port("sum", 4))
            + TestModel.message(12, scalarPort("goes", 9)) + TestModel.message(12, TestModel.port("sums", 4))
        let graph = TestModel.text(1, "body") + TestModel.message(6, body) + TestModel.number(20, 5)
        let loop = TestModel.node("Loop", ["turns", "yes", "x"], "y") + TestModel.message(5, graph)
        return model(
            TestModel.message(1, loop) + TestModel.message(5, TestModel.scalar("one", 1))
                + TestModel.message(5, raw("turns", 7, [255, 255, 255, 255, 255, 255, 255, 127]))
                + TestModel.message(5, raw("yes", 9, [1]))
        )
    }

    /// y = max of 2^31 copies of x: 32 GiB on the way.
    static func enormous() -> [UInt8] {
        let sizes = [0, 0, 0, 128, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0] as [UInt8]
        let shape =
            TestModel.number(1, 2) + TestModel.number(2, 7) + TestModel.text(8, "sizes")
            + TestModel.message(9, sizes)
        let axes = TestModel.text(1, "axes") + TestModel.number(8, 0) + TestModel.number(20, 7)
        let flat = TestModel.text(1, "keepdims") + TestModel.number(3, 0) + TestModel.number(20, 2)
        let greatest =
            TestModel.node("ReduceMax", ["copies"], "y") + TestModel.message(5, axes)
            + TestModel.message(5, flat)
        return model(
            TestModel.message(1, TestModel.node("Expand", ["x", "sizes"], "copies"))
                + TestModel.message(1, greatest) + TestModel.message(5, shape)
        )
    }

    private static func model(_ graph: [UInt8]) -> [UInt8] {
        let whole =
            graph + TestModel.text(2, "hard") + TestModel.message(11, TestModel.port("x", 4))
            + TestModel.message(12, TestModel.port("y", 4))
        return TestModel.number(1, 8) + TestModel.message(7, whole)
            + TestModel.message(8, TestModel.number(2, 13))
    }

    private static func raw(_ name: String, _ element: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        TestModel.number(2, element) + TestModel.text(8, name) + TestModel.message(9, bytes)
    }

    private static func scalarPort(_ name: String, _ element: UInt64) -> [UInt8] {
        let tensor = TestModel.number(1, element) + TestModel.message(2, [])
        return TestModel.text(1, name) + TestModel.message(2, TestModel.message(1, tensor))
    }
}
