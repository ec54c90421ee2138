package record

// Profile is one scenario loaded for one more slice, after the rounds of a
// block, while its processes sample their own CPU. It enters no metric.
type Profile struct {
	Block    int     `json:"block"`
	Scenario int     `json:"scenario"`
	Seed     uint64  `json:"seed"`
	AtS      float64 `json:"at_s"` // since Header.Started
	Calls    int     `json:"calls"`
	Items    int     `json:"items,omitempty"` // as in Load
	// Processes are in Block.Peers' order; nil for one that does not tell.
	Processes []*Phases `json:"processes"`
}

// Phases is where the CPU of one process went while calls were made.
type Phases struct {
	CPUS    float64 `json:"cpu_s"`    // user and system time, as the kernel counts it
	Samples int     `json:"samples"`  // that Parts are made of
	PeriodS float64 `json:"period_s"` // of CPU, that each stands for
	// Parts need not add up to CPUS: what lacks, or is too much, was not
	// sampled, or sampled too often.
	Parts []PhaseTime `json:"parts"`
}

// PhaseTime is the CPU of one phase.
type PhaseTime struct {
	Phase Phase `json:"phase"`
	// Next says of a phase of the wire that it is work for calls that the
	// process makes of the next tier, and not for those that it answers.
	Next    bool    `json:"next,omitempty"`
	Seconds float64 `json:"cpu_s"`
}

// Phase is one part of a call's cost.
type Phase string

// The phases. A process that runs on no garbage collector, or does not map, has
// none of that phase.
const (
	PhaseKernel   Phase = "carry_kernel"  // carry: in system calls, such as those for sockets and to wake threads
	PhaseLibrary  Phase = "carry_library" // carry: in the protocol's library and what it stands on
	PhaseCompress Phase = "compress"      // and decompress
	PhaseEncode   Phase = "encode"
	PhaseDecode   Phase = "decode"
	PhaseMap      Phase = "map"      // plain value to native form, or back
	PhaseValidate Phase = "validate" // requests held to the rules of the schema
	PhaseHandler  Phase = "handler"  // the application on a server
	PhaseStore    Phase = "store"
	PhaseCheck    Phase = "check"    // what a driver does to make a call and look at its reply
	PhaseCollect  Phase = "collect"  // collection of garbage
	PhaseSchedule Phase = "schedule" // the runtime's choice of what to run, and waiting for it
	PhaseOther    Phase = "other"
)

// AllPhases lists the phases in the order to show them in.
var AllPhases = []Phase{
	PhaseKernel, PhaseLibrary, PhaseCompress, PhaseEncode, PhaseDecode, PhaseMap,
	PhaseValidate, PhaseHandler, PhaseStore, PhaseCheck, PhaseCollect, PhaseSchedule, PhaseOther,
}

// Sampled is the CPU that the parts make up.
func (p *Phases) Sampled() float64 {
	var sum float64
	for _, part := range p.Parts {
		sum += part.Seconds
	}
	return sum
}
