// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Rule modules: no C, no clock, no I/O, and an unsafe expression is a build error.
let pure = house + [.strictMemorySafety()]

func room(_ name: String, _ dependencies: [Target.Dependency], plugins: [Target.PluginUsage] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: house, plugins: plugins)
}

func rules(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: pure)
}

/// Programs, which are started for every call, are small and start fast.
///
/// They give no names for others to link to, and their addresses are filled
/// in from a short list before anything runs. No other package depends on one.
let program: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld",
            "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "-z", "-Xlinker", "now",
            "-Xlinker", "--no-export-dynamic",
        ],
        .when(platforms: [.linux], configuration: .release)
    )
]

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: house)
}

let package = Package(
    name: "sealift",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "sealift", targets: ["sealift"]),
        .executable(name: "tuf-client", targets: ["tuf-client"]),
        .library(name: "SyncAgent", targets: ["SyncAgent"]),
        .library(name: "ModelLibrary", targets: ["Inference", "ModelLibrary", "ModelRuntimes"]),
        .library(name: "ModelLibraryTesting", targets: ["ModelLibraryTesting"]),
    ],
    targets: [
        // C, at arm's length.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .target(name: "CCurl"),
        .target(name: "CLinux"),

        // Foundations.
        rules("Names", []),
        rules("CanonicalJSON", []),
        room("Blocking", ["Names", "CLinux"]),
        room("Durable", ["Names", "CLinux"]),
        room("Signing", ["Names", "COpenSSL"]),
        room("TLS", ["Names", "COpenSSL"]),
        room("SQLiteKit", ["Names", "CSQLite"]),

        // Rules: pure, synchronous, no clock, no I/O.
        rules("Manifest", ["Names", "CanonicalJSON"]),
        rules("ModelFormats", ["Names", "CanonicalJSON", "Manifest", "Signing"]),
        rules("Trust", ["Names", "CanonicalJSON", "Signing"]),
        rules("Transparency", ["Names", "CanonicalJSON", "Signing"]),
        rules("RegistryAPI", ["Names", "CanonicalJSON"]),

        // I/O at the edge.
        room("Blobs", ["Names", "Blocking", "Durable", "Signing", "CLinux"]),
        room("HTTPServer", ["Names", "Blocking", "TLS", "CLinux"]),
        room(
            "Transfer",
            ["Names", "Blocking", "Durable", "Manifest", "Signing", "TLS", "Trust", "CCurl", "CLinux"]
        ),
        rules("Inference", ["Names", "CanonicalJSON", "Manifest"]),
        room(
            "Generations",
            ["Names", "Blocking", "CanonicalJSON", "Durable", "Manifest", "Signing", "CLinux"]
        ),
        room("Checking", ["Names", "Blocking", "CanonicalJSON", "Durable", "Inference", "Manifest"]),

        // Use cases.
        room(
            "Registry",
            [
                "Names", "Blobs", "Blocking", "CanonicalJSON", "Durable", "Manifest", "RegistryAPI",
                "Signing", "Transparency", "Trust",
            ]
        ),
        room(
            "RegistryStoreSQLite",
            ["Names", "Blocking", "Durable", "Registry", "SQLiteKit", "Signing"],
            plugins: ["EmbedMigrations"]
        ),
        room(
            "RegistryHTTP",
            [
                "Names", "Blocking", "CanonicalJSON", "HTTPServer", "Manifest", "Registry", "RegistryAPI",
                "Signing",
            ]
        ),
        room(
            "Publishing",
            [
                "Names", "Blocking", "CanonicalJSON", "Checking", "Durable", "Inference", "Manifest",
                "ModelFormats", "RegistryAPI", "Signing", "Transfer", "Transparency", "Trust",
            ]
        ),
        room("Audit", ["Names", "CanonicalJSON", "Manifest", "Signing", "Transfer", "Trust"]),
        room(
            "SyncAgent",
            [
                "Names", "Blocking", "CanonicalJSON", "Checking", "Durable", "Generations", "Manifest",
                "ModelFormats", "Signing", "Transfer", "Trust",
            ]
        ),
        room(
            "ModelLibrary",
            [
                "Names", "Blocking", "CanonicalJSON", "Durable", "Generations", "Inference", "Manifest",
                "CLinux",
            ]
        ),
        room(
            "ModelLibraryTesting",
            ["Names", "Blocking", "CanonicalJSON", "Inference", "ModelLibrary"]
        ),
        room("ModelRuntimes", ["Names", "Blocking", "Inference", "Manifest", "CLinux"]),

        // Wiring.
        rules("Arguments", ["Names"]),
        .executableTarget(
            name: "sealift",
            dependencies: [
                "Names", "Arguments", "Audit", "Blobs", "Blocking", "CanonicalJSON", "Checking", "Durable",
                "Generations", "HTTPServer", "Inference", "Manifest", "ModelFormats", "ModelLibrary",
                "ModelRuntimes", "Publishing", "Registry", "RegistryAPI", "RegistryHTTP",
                "RegistryStoreSQLite", "Signing", "SyncAgent", "TLS", "Transfer", "Trust", "CLinux",
            ],
            swiftSettings: house,
            linkerSettings: program
        ),
        .executableTarget(
            name: "tuf-client",
            dependencies: ["Names", "Blocking", "Durable", "Transfer", "Trust"],
            swiftSettings: house,
            linkerSettings: program
        ),

        // Migrations become Swift text at build time.
        .executableTarget(name: "embed-migrations", swiftSettings: house),
        .plugin(
            name: "EmbedMigrations",
            capability: .buildTool(),
            dependencies: ["embed-migrations"],
            path: "Sources/EmbedMigrations"
        ),

        // Tests, from fast to slow.
        .target(
            name: "Support",
            dependencies: [
                "Names", "Blocking", "CanonicalJSON", "CLinux", "Durable", "Signing", "Transfer", "Trust",
            ],
            path: "Tests/Support",
            swiftSettings: house
        ),
        .target(
            name: "DeviceSupport",
            dependencies: [
                "Blocking", "CanonicalJSON", "Durable", "Generations", "Manifest", "ModelFormats", "Names",
                "Signing", "Support",
            ],
            path: "Tests/DeviceSupport",
            swiftSettings: house
        ),
        .executableTarget(
            name: "canonical-rate",
            dependencies: ["CanonicalJSON", "Durable", "Names"],
            path: "Tests/Benchmarks/CanonicalRate",
            swiftSettings: house
        ),
        .executableTarget(
            name: "library-time",
            dependencies: [
                "Blocking", "CanonicalJSON", "DeviceSupport", "Durable", "Generations", "Inference",
                "Manifest", "ModelLibrary", "ModelRuntimes", "Names", "Support",
            ],
            path: "Tests/Benchmarks/LibraryTime",
            swiftSettings: house
        ),
        .executableTarget(
            name: "verdict-time",
            dependencies: ["CanonicalJSON", "Manifest", "Names"],
            path: "Tests/Benchmarks/VerdictTime",
            swiftSettings: house
        ),
        .target(
            name: "FuzzCases",
            dependencies: [
                "Names", "CanonicalJSON", "HTTPServer", "Inference", "Manifest", "ModelFormats",
                "RegistryAPI", "Signing", "Transparency", "Trust",
            ],
            path: "Tests/FuzzTests/Cases",
            swiftSettings: house
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["FuzzCases"],
            exclude: ["Cases", "Corpora", "Fuzzer"],
            swiftSettings: house
        ),
        tests("NamesTests", ["Names"]),
        tests("CanonicalJSONTests", ["CanonicalJSON"]),
        tests("BlockingTests", ["Blocking", "Names"]),
        tests("DurableTests", ["Durable", "Blocking", "Names", "Support"]),
        tests("SigningTests", ["Signing", "Names"]),
        tests("TLSTests", ["TLS", "Names", "Support"]),
        tests("SQLiteKitTests", ["SQLiteKit", "Names", "Support"]),
        tests("ManifestTests", ["Manifest", "CanonicalJSON", "Names", "Support"]),
        tests("ModelFormatsTests", ["ModelFormats", "Manifest", "CanonicalJSON", "Names", "Support"]),
        tests(
            "TrustTests",
            ["Trust", "Blocking", "CanonicalJSON", "Durable", "Names", "Signing", "Transfer", "Support"]
        ),
        tests("TransparencyTests", ["Transparency", "CanonicalJSON", "Names", "Signing"]),
        tests("BlobsTests", ["Blobs", "Durable", "Names", "Signing", "Support"]),
        tests("HTTPServerTests", ["HTTPServer", "Blocking", "TLS", "Names", "Support"]),
        tests(
            "TransferTests",
            [
                "Transfer", "Blocking", "Durable", "HTTPServer", "TLS", "Manifest", "Names", "Signing",
                "Trust", "Support",
            ]
        ),
        tests(
            "RegistryTests",
            [
                "Registry", "RegistryStoreSQLite", "RegistryHTTP", "RegistryAPI", "Blobs", "CanonicalJSON",
                "Durable", "HTTPServer", "Manifest", "Names", "Signing", "SQLiteKit", "Transfer",
                "Transparency", "Trust", "Support",
            ]
        ),
        tests(
            "GenerationsTests",
            ["Generations", "Blocking", "Durable", "Manifest", "Names", "Signing", "Support"]
        ),
        tests(
            "PublishingTests",
            [
                "Publishing", "CanonicalJSON", "Checking", "Durable", "Inference", "Manifest", "ModelFormats",
                "Names", "RegistryAPI", "Signing", "Transfer", "Trust", "Support",
            ]
        ),
        tests(
            "SyncAgentTests",
            [
                "SyncAgent", "CanonicalJSON", "Checking", "Durable", "Generations", "Manifest",
                "ModelFormats", "Names", "Signing", "Transfer", "Trust", "Support",
            ]
        ),
        tests("AuditTests", ["Audit", "Manifest", "Names", "Signing", "Transfer", "Trust", "Support"]),
        tests("InferenceTests", ["Inference", "CanonicalJSON", "Manifest", "Names"]),
        tests("ModelRuntimesTests", ["ModelRuntimes", "Inference", "Manifest", "Names"]),
        tests(
            "ModelLibraryTests",
            [
                "ModelLibrary", "ModelLibraryTesting", "Blocking", "CanonicalJSON", "DeviceSupport",
                "Durable", "Generations", "Inference", "Manifest", "ModelFormats", "ModelRuntimes", "Names",
                "Signing", "Support", "SyncAgent", "library-time",
            ]
        ),
        tests("ArgumentsTests", ["Arguments"]),
        tests(
            "CheckingTests",
            ["Checking", "CanonicalJSON", "Durable", "Inference", "Manifest", "Names", "Support"]
        ),
        tests("CompileFailTests", ["Support", "Trust"]),
        tests(
            "ConformanceTests",
            ["CanonicalJSON", "Durable", "Names", "Signing", "Support", "Transfer", "Trust", "tuf-client"],
            resources: [.copy("Fixtures")]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Blocking", "CanonicalJSON", "Checking", "Durable", "Inference", "Manifest", "ModelLibrary",
                "ModelRuntimes", "Names", "Publishing", "RegistryAPI", "Signing", "Support", "SyncAgent",
                "Transfer", "Trust", "sealift",
            ],
            exclude: ["Fixtures"],
            swiftSettings: house
        ),
    ],
    swiftLanguageModes: [.v6]
)
