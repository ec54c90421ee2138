package orders

import (
	"testing"

	"github.com/tare-bench/tare/codec/avro"
	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/rpc"
)

// Codecs with a schema of their own find each field of the plain structs.
func TestMessagesInOtherSchemas(t *testing.T) {
	for _, svc := range []*rpc.Service{OrderService, PaymentService} {
		codectest.Service(t, avro.Codec{}, svc)
	}
}
