import Glibc
import HTTPServer

enum TestFile {
    static func read(_ file: HTTPFile, _ offset: UInt64, _ length: UInt64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, filled in
            filled = max(0, pread(file.descriptor, buffer.baseAddress, Int(length), off_t(offset)))
        }
    }
}
