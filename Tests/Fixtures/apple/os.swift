// swift-format-ignore-file
// What Sealift uses of Apple's `os`.
public func os_proc_available_memory() -> Int { 0 }
