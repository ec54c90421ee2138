# Made of proto/ by a test of codec/capnp/idl: run make generate, and change nothing here.
@0xd2b82d7a252b45aa;
using Go = import "/go.capnp";
$Go.package("conformance");
$Go.import("github.com/tare-bench/tare/gen/capnp/conformance");

interface ConformanceService @0xa94cce7c21249dd0 {
  # ConformanceService has one method of each kind, and three whose requests are
  # more than a body in REST.
  echo @0 EchoRequest -> EchoResult;
  # Echo answers with what it was sent.
  expand @1 (request :ExpandRequest, replies :ExpandReplies) -> (failure :Failure);
  # Expand answers with the request's item, count times.
  collect @2 () -> (requests :CollectRequests);
  # Collect answers with how many items came, and the last.
  converse @3 (replies :ConverseReplies) -> (requests :ConverseRequests);
  # Converse answers each item as it comes.
  find @4 FindRequest -> FindResult;
  # Find answers with what it was asked for.
  amend @5 AmendRequest -> AmendResult;
  # Amend answers with what it was sent.
  follow @6 (request :FollowRequest, replies :FollowReplies) -> (failure :Failure);
  # Follow answers with so many numbers, in their order.
}

enum Mood @0xef72b83eca3475ac {
  # Mood is an enum, for numbers and names.
  unspecified @0;
  calm @1;
  brisk @2;
}

struct Item @0xb2af2c11455b4188 {
  # Item has each shape of field that codecs get wrong.
  text @0 :Text;
  # Text, any Unicode.
  number @1 :Int64;
  # Beyond 2^53 a JSON number would lose digits.
  ratio @2 :Float64;
  # NaN and the infinities have no JSON number.
  blob @3 :Data;
  # Raw bytes.
  mood @4 :Mood;
  # An enum.
  tags @5 :List(Text);
  # A list of text.
  child @6 :Item;
  # A nested message, present or absent.
  maybe @7 :OptionalInt32;
  # Present or absent, apart from its default.
  counts @8 :List(CountsEntry);
  # A map; its order is never significant.
}

struct EchoRequest @0x9f9bddeddd811a3b {
  # EchoRequest asks for its item back, or for an error.
  item @0 :Item;
  # What to send back.
  failCode @1 :Int32;
  # A number of google.rpc.Code to fail with; 0 to succeed.
  failMessage @2 :Text;
  # The text of that failure.
  hang @3 :Bool;
  # Whether to wait until the caller gives up.
}

struct EchoResponse @0xdba791f2d14f0059 {
  # EchoResponse brings the item back.
  item @0 :Item;
  # What was sent.
}

struct ExpandRequest @0x9c8be48bc184601f {
  # ExpandRequest asks for copies of its item.
  item @0 :Item;
  # What to send back.
  count @1 :Int32;
  # How many times.
  failCode @2 :Int32;
  # A number of google.rpc.Code to fail with after the last; 0 to succeed.
}

struct ExpandResponse @0xe78090d1aa37e4a0 {
  # ExpandResponse is one copy.
  item @0 :Item;
  # What was sent.
}

struct CollectRequest @0xf031e6cfbd4500ea {
  # CollectRequest brings one item.
  item @0 :Item;
  # What to count.
}

struct CollectResponse @0xb89e2fb2601bd27b {
  # CollectResponse says what came.
  count @0 :Int32;
  # How many items came.
  last @1 :Item;
  # The last of them.
}

struct ConverseRequest @0xff0304f0a97eec36 {
  # ConverseRequest brings one item.
  item @0 :Item;
  # What to send back.
}

struct ConverseResponse @0xe4c4393a88679491 {
  # ConverseResponse answers one item.
  item @0 :Item;
  # What was sent.
}

struct FindRequest @0x986caaeb6fd703ce {
  # FindRequest has each shape of field that a path or a query can hold.
  name @0 :Text;
  # Any text that is not empty; in the path.
  level @1 :Int32;
  # A level in the path too.
  pageSize @2 :Int64;
  # A number that a single key may give.
  ratio @3 :Float64;
  # NaN and the infinities have no digits.
  exact @4 :Bool;
  # True or false.
  token @5 :Data;
  # Raw bytes.
  mood @6 :Mood;
  # An enum.
  tags @7 :List(Text);
  # A list of text.
  moods @8 :List(Mood);
  # A list of enums.
  maybe @9 :OptionalInt32;
  # Present or absent, apart from its default.
  range @10 :Range;
  # A nested message.
  sinceTime @11 :Timestamp;
  # A message whose JSON is one text.
  open @12 :OptionalBool;
  # A message whose JSON is one boolean.
}

struct Range @0x9e9089d3ff3831c4 {
  # Range is a nested message that a query can hold.
  from @0 :Int64;
  # Its first number.
  to @1 :OptionalInt64;
  # Its last number, if it ends.
}

struct FindResponse @0xb16e9a4168f00d69 {
  # FindResponse says what was asked for.
  found @0 :FindRequest;
  # The request.
}

struct AmendRequest @0xd2ed0fcfe3a77823 {
  # AmendRequest has its name in the path, and the rest in the body.
  name @0 :Text;
  # Any text that is not empty.
  item @1 :Item;
  # What to send back.
}

struct AmendResponse @0x8b6a30f7eebfc24c {
  # AmendResponse brings the request back.
  name @0 :Text;
  # The name that was sent.
  item @1 :Item;
  # The item that was sent.
}

struct FollowRequest @0xa5a4da2daab76abe {
  # FollowRequest asks for numbers.
  count @0 :Int32;
  # How many.
  after @1 :OptionalInt64;
  # The number before the first; absent, they begin at 1.
}

struct FollowResponse @0xbdafb1c8e57b7b82 {
  # FollowResponse is one number.
  number @0 :Int64;
  # The number.
}

struct AmendResult @0xe31aacfdcbb72ec2 {
  union {
    reply @0 :AmendResponse;
    failure @1 :Failure;
  }
}

interface CollectRequests @0x9cdb3970374c4b91 {
  send @0 CollectRequest -> stream;
  end @1 () -> CollectResult;
}

struct CollectResult @0xa84e237bffc814fc {
  union {
    reply @0 :CollectResponse;
    failure @1 :Failure;
  }
}

interface ConverseReplies @0xce39b545c1fa9dec {
  send @0 ConverseResponse -> stream;
}

interface ConverseRequests @0xb8766363e189670e {
  send @0 ConverseRequest -> stream;
  end @1 () -> (failure :Failure);
}

struct CountsEntry @0xd5c8928978dc8dfa {
  key @0 :Text;
  value @1 :Int64;
}

struct EchoResult @0xd9ba8d3398bae248 {
  union {
    reply @0 :EchoResponse;
    failure @1 :Failure;
  }
}

interface ExpandReplies @0xd0b82519e695a6d4 {
  send @0 ExpandResponse -> stream;
}

struct Failure @0x81d735adcf80878f {
  code @0 :Int32;
  message @1 :Text;
  violations @2 :List(FieldViolation);
  retryAfterNanos @3 :Int64;
}

struct FieldViolation @0xb6574d6959958da8 {
  field @0 :Text;
  description @1 :Text;
  reason @2 :Text;
}

struct FindResult @0xd5d7159c425d26cb {
  union {
    reply @0 :FindResponse;
    failure @1 :Failure;
  }
}

interface FollowReplies @0xd2a35c1809058f81 {
  send @0 FollowResponse -> stream;
}

struct OptionalBool @0xec1ad9cd3c9c309a {
  value @0 :Bool;
}

struct OptionalInt32 @0xa7d7dae386303a82 {
  value @0 :Int32;
}

struct OptionalInt64 @0x922f21855f62fb62 {
  value @0 :Int64;
}

struct Timestamp @0xe63e7911aa2e1682 {
  seconds @0 :Int64;
  nanos @1 :Int32;
}
