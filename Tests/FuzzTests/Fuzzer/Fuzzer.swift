import FuzzCases
import Glibc

// What libFuzzer calls. `.ci/fuzz` links this with its `main`; no target of the package holds it.

private let target: FuzzTarget = {
    let name = getenv("SEALIFT_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        // Nothing runs without a reader, and a fuzzer has nobody to return to.
        fatalError("SEALIFT_FUZZ_TARGET is none of \(FuzzTarget.all.map(\.name))")
    }
    return target
}()

/// Reads one input, and ends the process when a rule does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    // A crash is how a fuzzer is told of a finding.
    if let rule = target.finding(in: bytes) { fatalError("\(target.name) does not hold: \(rule)") }
    return 0
}
