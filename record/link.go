package record

// The kinds of link.
const (
	Tunnel = "tunnel" // packets, between the kernel's own TCP on both sides
	Relay  = "relay"  // bytes of connections
)

// Link is an emulated network on the leg that the stack varies. It adds the same
// in both directions.
type Link struct {
	Spec       string  `json:"spec"`                // as it is spelled
	Kind       string  `json:"kind"`                // Tunnel or Relay
	Rate       float64 `json:"rate_bits,omitempty"` // per second; 0 for no limit
	RoundTripS float64 `json:"round_trip_s"`
	JitterS    float64 `json:"jitter_s,omitempty"` // each way, up and down
	Loss       float64 `json:"loss,omitempty"`     // share of packets, each way
}

// LinkUsed is what a link has carried, both ways together, and what it has used.
type LinkUsed struct {
	Seconds float64 `json:"seconds"`           // that it stood
	CPUS    float64 `json:"cpu_s"`             // that carrying took of the processors; for a relay, all that tare itself took
	Packets int64   `json:"packets,omitempty"` // that entered; none are counted where bytes are carried
	Bytes   int64   `json:"bytes"`             // that entered: of packets, with their headers
	Lost    int64   `json:"lost,omitempty"`    // packets, as was asked
	Dropped int64   `json:"dropped,omitempty"` // packets that met a full queue
}
