// What protobuf ships with, as Thrift has it.
//
// All schemas here declare a field of one value as optional with the zero value
// for its default. So it is written only if it is not zero, as in protobuf, and
// in Go it is no pointer. Doubles alone are always written, since negative zero
// equals zero. Where protobuf has "optional", there is no default. A name that
// Thrift reserves ends with "_".
namespace go wellknown

// Timestamp is a point in time.
struct Timestamp {
  // Since 1970-01-01T00:00:00Z.
  1: optional i64 seconds = 0
  // 0 to 999,999,999.
  2: optional i32 nanos = 0
}

// FieldMask names fields of a message.
struct FieldMask {
  1: optional list<string> paths
}

// BoolValue is a bool that may be absent.
struct BoolValue {
  1: optional bool value = false
}
