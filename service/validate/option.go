package validate

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// number is that of the option in which a message, field or oneof has its
// rules. Source: buf/validate/validate.proto, where all three have the same.
const number = 1159

// hasOption says whether what d describes has rules of its own.
func hasOption(d protoreflect.Descriptor) bool {
	options := d.Options().ProtoReflect()
	found := false
	options.Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		found = f.Number() == number
		return !found
	})
	for unread := options.GetUnknown(); !found && len(unread) > 0; {
		n, _, length := protowire.ConsumeField(unread)
		if length < 0 {
			return false
		}
		found = n == number
		unread = unread[length:]
	}
	return found
}
