import KVInspectCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

occupyStandardDescriptors()
ignoreClosedPipes()
let inspector = Inspector(
  output: Output(descriptor: 1, name: "standard output"),
  errors: Output(descriptor: 2, name: "standard error"))
exit(inspector.run(Array(CommandLine.arguments.dropFirst())).rawValue)
