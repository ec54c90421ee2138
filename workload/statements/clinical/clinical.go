// Package clinical is the schema of proto/tare/clinical/v1 in Go: its messages
// as plain structs, how these are mapped to generated ones and back, and its
// services. Handlers and workloads use it, and codecs with a schema of their own.
//
// The structs' JSON is ProtoJSON: names in lowerCamelCase, 64-bit integers as
// strings, enums by name, times as RFC 3339 has them, and no null.
package clinical
