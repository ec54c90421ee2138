// Messages as they are after a change, as tare/evolution/v2 has them: a test holds
// every field to that schema. See wellknown.thrift for how fields are declared.
namespace go evolutionv2

// Stage has a value with another name.
enum Stage {
  // Never sent.
  STAGE_UNSPECIFIED = 0
  // It has begun.
  STAGE_STARTED = 1
}

// State has another value.
enum State {
  // Never sent.
  STATE_UNSPECIFIED = 0
  // It is open.
  STATE_OPEN = 1
  // It is closed.
  STATE_CLOSED = 2
}

// Grown has a new field.
struct Grown {
  // Stays.
  1: optional string kept = ""
  // Is new.
  2: optional string note = ""
}

// Shrunk has lost field 2, dropped.
struct Shrunk {
  // Stays.
  1: optional string kept = ""
}

// Renamed has a field with another name.
struct Renamed {
  // Stays.
  1: optional string kept = ""
  // Was called old_name.
  2: optional string new_name = ""
}

// Relabelled has an enum of which a value has another name.
struct Relabelled {
  // Stays.
  1: optional string kept = ""
  // Where it stands.
  2: optional Stage stage = Stage.STAGE_UNSPECIFIED
}

// Opened has an enum with another value.
struct Opened {
  // Stays.
  1: optional string kept = ""
  // Where it stands.
  2: optional State state = State.STATE_UNSPECIFIED
}

// Widened has a number with more bits.
struct Widened {
  // Stays.
  1: optional string kept = ""
  // Was of 32 bits.
  2: optional i64 count = 0
}
