import Glibc
import Manifest
import ModelFormats
import Publishing
import SyncAgent

/// Reads what is to be published as every device will: in a process with as little memory and time.
///
/// Publishing itself reads without such bounds. What only it could read would
/// be signed and sent, and refused by all devices.
enum DeviceReading {
    /// - Throws: `PublishingError.unpublishable` when no device would take a variant, and what reading it throws.
    static func check(_ request: PublishRequest, _ context: Context) async throws {
        let variants = try await InspectedVariant.inspect(all: request.variants, card: request.card)
        for (source, found) in zip(request.variants, variants) where found.inspection.format != .opaque {
            let files = found.files.map { file in
                ReadingRequest.File(
                    path: file.path,
                    length: file.length,
                    location: context.absolute(file.location)
                )
            }
            let reading = ReadingRequest(
                format: found.inspection.format,
                entry: found.entry,
                files: files,
                parent: Int64(getpid())
            )
            do throws(SyncError) {
                // This very program, also when the file was replaced by a newer one meanwhile.
                _ = try await ReaderProgram("/proc/self/exe").facts(reading, source.path)
            } catch {
                guard error.kind == .refused else { throw error }
                throw PublishingError.unpublishable("no device would take it: \(error.message)")
            }
        }
    }
}
