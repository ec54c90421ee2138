# Made of proto/ by a test of codec/capnp/idl: run make generate, and change nothing here.
@0x82500f25a7a3a8d1;
using Go = import "/go.capnp";
$Go.package("evolutionv1");
$Go.import("github.com/tare-bench/tare/gen/capnp/evolutionv1");

enum Stage @0xe41c5e2708b51a26 {
  # Stage has a value that gets another name.
  unspecified @0;
  begun @1;
}

enum State @0xb81c6bb44781108d {
  # State gets another value.
  unspecified @0;
  open @1;
}

struct Grown @0x9f074b9f382e1bfe {
  # Grown gets a field.
  kept @0 :Text;
  # Stays.
}

struct Shrunk @0xaac19b032535e2c3 {
  # Shrunk loses a field.
  kept @0 :Text;
  # Stays.
  dropped @1 :Text;
  # Goes.
}

struct Renamed @0x8ceff3187637f4b3 {
  # Renamed has a field that gets another name.
  kept @0 :Text;
  # Stays.
  oldName @1 :Text;
  # Is called new_name later.
}

struct Relabelled @0xa70b7d2165160299 {
  # Relabelled has an enum of which a value gets another name.
  kept @0 :Text;
  # Stays.
  stage @1 :Stage;
  # Where it stands.
}

struct Opened @0x988c6626a4f31430 {
  # Opened has an enum that gets a value.
  kept @0 :Text;
  # Stays.
  state @1 :State;
  # Where it stands.
}

struct Widened @0x8f56f38e8427f607 {
  # Widened has a number that gets more bits.
  kept @0 :Text;
  # Stays.
  count @1 :Int32;
  # Is of 64 bits later.
}
