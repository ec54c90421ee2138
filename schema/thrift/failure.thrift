// How every method fails.
namespace go failure

// Violation is one thing that is wrong with a request.
struct Violation {
  // Path of the field: "lines[0].quantity".
  1: optional string field = ""
  // What is wrong with it, for a person.
  2: optional string description = ""
  // The rule, for a program.
  3: optional string reason = ""
}

// Failure is the end of a call that failed.
exception Failure {
  // Of google.rpc.Code.
  1: optional i32 code = 0
  // For a person.
  2: optional string message = ""
  // What is wrong with the request.
  3: optional list<Violation> violations
  // After so many nanoseconds the call may be made again; 0: nothing is said.
  4: optional i64 retry_after_nanos = 0
}
