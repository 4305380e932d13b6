import Testing

/// Each part of the engine is tested through `Database` on a real volume and in memory.
@Suite struct VolumeCoverageTests {
  /// Suites of each part, whose tests have the volume as an argument.
  private static let suites: [String: [String]] = [
    "compaction and relief": [
      "Compaction/DatabaseCompactionTests", "Compaction/CompactionFailureTests",
      "Engine/BackgroundWorkerTests", "Engine/ReliefTests", "Engine/ObsoleteFilesTests",
    ],
    "snapshots and cursors": [
      "Database/SnapshotTests", "Database/CursorTests", "Database/DatabaseModelTests",
      "Iteration/GapNotesTests",
    ],
    "durability": ["Database/DurabilityTests", "Engine/CommitPipelineTests"],
    "bulk load": ["Database/LoadTests", "Engine/LogBoundTests"],
    "cache and open segments": ["Database/CacheCeilingTests", "Manifest/DescriptorCeilingTests"],
    "several processes": [
      "Database/DatabaseTurnsTests", "Database/HandoverTests", "Database/LifecycleTests",
      "Database/SuspensionTests", "Compaction/CompactionReaderTests", "Engine/RecoveryRaceTests",
    ],
    "full disks, permissions, limits": ["Database/FullDiskTests", "Database/StoreAccessTests"],
    "opening, verification, copies": [
      "Engine/RecoveryTests", "Engine/EarlierStateTests", "Database/DatabaseDamageTests",
      "Database/CheckpointTests",
    ],
    "spaces, ranges, preconditions": [
      "Database/SpaceTests", "Database/DatabaseTests", "Database/PreconditionTests",
    ],
    "events": ["Database/EventTests"],
  ]

  @Test(arguments: suites.keys.sorted()) func aPartIsTestedOnBothVolumes(part: String) {
    for suite in Self.suites[part] ?? [] {
      let text = Repository.text(of: "Tests/KVEngineTests/\(suite).swift")
      #expect(text.contains("arguments: StoreVolume."), "\(suite)")
    }
  }
}
