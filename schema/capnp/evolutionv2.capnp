# Made of proto/ by a test of codec/capnp/idl: run make generate, and change nothing here.
@0xf03ff5d038122bbe;
using Go = import "/go.capnp";
$Go.package("evolutionv2");
$Go.import("github.com/tare-bench/tare/gen/capnp/evolutionv2");

enum Stage @0xe3db784f4df5b0c2 {
  # Stage has a value with another name.
  unspecified @0;
  started @1;
}

enum State @0x95f003f0e5039c4f {
  # State has another value.
  unspecified @0;
  open @1;
  closed @2;
}

struct Grown @0xdcd1988bd916459b {
  # Grown has a new field.
  kept @0 :Text;
  # Stays.
  note @1 :Text;
  # Is new.
}

struct Shrunk @0x883f6045adf343ea {
  # Shrunk has lost a field.
  kept @0 :Text;
  # Stays.
}

struct Renamed @0xb80c8b16580225d5 {
  # Renamed has a field with another name.
  kept @0 :Text;
  # Stays.
  newName @1 :Text;
  # Was called old_name.
}

struct Relabelled @0x9328c18ba3dc0c76 {
  # Relabelled has an enum of which a value has another name.
  kept @0 :Text;
  # Stays.
  stage @1 :Stage;
  # Where it stands.
}

struct Opened @0xa88f53aabca24c46 {
  # Opened has an enum with another value.
  kept @0 :Text;
  # Stays.
  state @1 :State;
  # Where it stands.
}

struct Widened @0xd2c8344d782bd327 {
  # Widened has a number with more bits.
  kept @0 :Text;
  # Stays.
  count @1 :Int64;
  # Was of 32 bits.
}
