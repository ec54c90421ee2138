// The service that tests hold every protocol and codec to, as
// tare/conformance/v1 has it. Thrift carries none of its streams.
namespace go conformance

include "failure.thrift"
include "wellknown.thrift"

// Mood is an enum, for numbers and names.
enum Mood {
  // Never sent.
  MOOD_UNSPECIFIED = 0
  // One value.
  MOOD_CALM = 1
  // Another value.
  MOOD_BRISK = 2
}

// Item has each shape of field that codecs get wrong.
struct Item {
  // Text, any Unicode.
  1: optional string text = ""
  // Beyond 2^53 a JSON number would lose digits.
  2: optional i64 number = 0
  // NaN and the infinities have no JSON number.
  3: double ratio
  // Raw bytes.
  4: optional binary blob = ""
  // An enum.
  5: optional Mood mood = Mood.MOOD_UNSPECIFIED
  // A list of text.
  6: optional list<string> tags
  // A nested message, present or absent.
  7: optional Item child
  // Present or absent, apart from its default.
  8: optional i32 maybe
  // A map; its order is never significant.
  9: optional map<string, i64> counts
}

// EchoRequest asks for its item back, or for an error.
struct EchoRequest {
  // What to send back.
  1: optional Item item
  // A number of google.rpc.Code to fail with; 0 to succeed.
  2: optional i32 fail_code = 0
  // The text of that failure.
  3: optional string fail_message = ""
  // Whether to wait until the caller gives up.
  4: optional bool hang = false
}

// EchoResponse brings the item back.
struct EchoResponse {
  // What was sent.
  1: optional Item item
}

// ExpandRequest asks for copies of its item.
struct ExpandRequest {
  // What to send back.
  1: optional Item item
  // How many times.
  2: optional i32 count = 0
  // A number of google.rpc.Code to fail with after the last; 0 to succeed.
  3: optional i32 fail_code = 0
}

// ExpandResponse is one copy.
struct ExpandResponse {
  // What was sent.
  1: optional Item item
}

// CollectRequest brings one item.
struct CollectRequest {
  // What to count.
  1: optional Item item
}

// CollectResponse says what came.
struct CollectResponse {
  // How many items came.
  1: optional i32 count = 0
  // The last of them.
  2: optional Item last
}

// ConverseRequest brings one item.
struct ConverseRequest {
  // What to send back.
  1: optional Item item
}

// ConverseResponse answers one item.
struct ConverseResponse {
  // What was sent.
  1: optional Item item
}

// Range is a nested message that a query can hold.
struct Range {
  // Its first number.
  1: optional i64 from_ = 0
  // Its last number, if it ends.
  2: optional i64 to
}

// FindRequest has each shape of field that a path or a query can hold.
struct FindRequest {
  // Any text that is not empty; in the path.
  1: optional string name = ""
  // A level in the path too.
  2: optional i32 level = 0
  // A number that a single key may give.
  3: optional i64 page_size = 0
  // NaN and the infinities have no digits.
  4: double ratio
  // True or false.
  5: optional bool exact = false
  // Raw bytes.
  6: optional binary token = ""
  // An enum.
  7: optional Mood mood = Mood.MOOD_UNSPECIFIED
  // A list of text.
  8: optional list<string> tags
  // A list of enums.
  9: optional list<Mood> moods
  // Present or absent, apart from its default.
  10: optional i32 maybe
  // A nested message.
  11: optional Range range
  // A message whose JSON is one text.
  12: optional wellknown.Timestamp since_time
  // A message whose JSON is one boolean.
  13: optional wellknown.BoolValue open
}

// FindResponse says what was asked for.
struct FindResponse {
  // The request.
  1: optional FindRequest found
}

// AmendRequest has its name in the path, and the rest in the body.
struct AmendRequest {
  // Any text that is not empty.
  1: optional string name = ""
  // What to send back.
  2: optional Item item
}

// AmendResponse brings the request back.
struct AmendResponse {
  // The name that was sent.
  1: optional string name = ""
  // The item that was sent.
  2: optional Item item
}

// FollowRequest asks for numbers.
struct FollowRequest {
  // How many.
  1: optional i32 count = 0
  // The number before the first; absent, they begin at 1.
  2: optional i64 after
}

// FollowResponse is one number.
struct FollowResponse {
  // The number.
  1: optional i64 number = 0
}

// ConformanceService has one method of each kind, and three whose requests are
// more than a body in REST.
service ConformanceService {
  // Echo answers with what it was sent.
  EchoResponse Echo(1: EchoRequest request) throws (1: failure.Failure failure)
  // Find answers with what it was asked for.
  FindResponse Find(1: FindRequest request) throws (1: failure.Failure failure)
  // Amend answers with what it was sent.
  AmendResponse Amend(1: AmendRequest request) throws (1: failure.Failure failure)
}
