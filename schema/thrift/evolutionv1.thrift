// Messages as they were, before a change, as tare/evolution/v1 has them: a test holds
// every field to that schema. See wellknown.thrift for how fields are declared.
namespace go evolutionv1

// Stage has a value that gets another name.
enum Stage {
  // Never sent.
  STAGE_UNSPECIFIED = 0
  // It has begun.
  STAGE_BEGUN = 1
}

// State gets another value.
enum State {
  // Never sent.
  STATE_UNSPECIFIED = 0
  // It is open.
  STATE_OPEN = 1
}

// Grown gets a field.
struct Grown {
  // Stays.
  1: optional string kept = ""
}

// Shrunk loses a field.
struct Shrunk {
  // Stays.
  1: optional string kept = ""
  // Goes.
  2: optional string dropped = ""
}

// Renamed has a field that gets another name.
struct Renamed {
  // Stays.
  1: optional string kept = ""
  // Is called new_name later.
  2: optional string old_name = ""
}

// Relabelled has an enum of which a value gets another name.
struct Relabelled {
  // Stays.
  1: optional string kept = ""
  // Where it stands.
  2: optional Stage stage = Stage.STAGE_UNSPECIFIED
}

// Opened has an enum that gets a value.
struct Opened {
  // Stays.
  1: optional string kept = ""
  // Where it stands.
  2: optional State state = State.STATE_UNSPECIFIED
}

// Widened has a number that gets more bits.
struct Widened {
  // Stays.
  1: optional string kept = ""
  // Is of 64 bits later.
  2: optional i32 count = 0
}
