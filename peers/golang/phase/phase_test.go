package phase

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/record"
)

const tare = "github.com/tare-bench/tare/"

// Stacks that others begin with.
const (
	conn     = "net/http.(*conn).serve > net/http.serverHandler.ServeHTTP > " + tare + "protocol/rest.(*server).ServeHTTP"
	gate     = conn + " > " + tare + "service/admission.(*Gate).Handle"
	unary    = gate + " > " + tare + "service/validate.New.(*Rules).Handler.func1 > " + tare + "workload/orders.answers.Handle > " + tare + "workload/orders.newOrderService.unary[...].func2"
	received = unary + " > " + tare + "service/validate.(*checked).Recv"
	handler  = unary + " > " + tare + "workload/orders.(*orderService).create"
	onward   = handler + " > " + tare + "rpc.Invoke > " + tare + "service/hop.(*Hop).Handle"
	nextGRP  = onward + " > " + tare + "peers/golang.labelled.Handle > " + tare + "protocol/grpc.(*conn).Handle > google.golang.org/grpc.(*ClientConn).Invoke"
	sysWrite = "internal/poll.(*FD).Write > syscall.Write > internal/runtime/syscall/linux.Syscall6"
	loop     = tare + "load.Run.func1 > " + tare + "peers/golang.(*session).do"
	inCall   = loop + " > " + tare + "protocol/grpc.(*conn).Handle"
	pick     = "runtime.mcall > runtime.park_m > runtime.schedule > runtime.findRunnable"
)

// stacks are written as one reads them, from the root to the leaf.
func TestPhaseOfAStack(t *testing.T) {
	server, driver := NewRules(catalog.Default(), record.PhaseHandler), NewRules(catalog.Default(), record.PhaseCheck)
	for name, c := range map[string]struct {
		rules Rules
		stack string
		want  record.Phase
	}{
		"a library's own work":                   {server, conn + " > net/textproto.(*Reader).ReadMIMEHeader", record.PhaseLibrary},
		"an allocation in it":                    {server, conn + " > runtime.newobject > runtime.mallocgc", record.PhaseLibrary},
		"a write to a socket":                    {server, conn + " > net.(*conn).Write > " + sysWrite, record.PhaseKernel},
		"a thread that it wakes":                 {server, conn + " > runtime.chansend1 > runtime.goready > runtime.startm > runtime.futex", record.PhaseKernel},
		"its transport's goroutine":              {server, "google.golang.org/grpc/internal/transport.(*loopyWriter).run > golang.org/x/net/http2/hpack.(*Encoder).WriteField", record.PhaseLibrary},
		"the lean driver":                        {driver, tare + "lean.(*loop).run > golang.org/x/sys/unix.Syscall6", record.PhaseKernel},
		"the application":                        {server, handler + " > fmt.Sprintf", record.PhaseHandler},
		"the gate to it":                         {server, gate + " > sync.(*Mutex).Lock", record.PhaseHandler},
		"the hop to the next":                    {server, onward + " > context.WithCancel > runtime.mallocgc", record.PhaseHandler},
		"a request that comes in":                {server, received, record.PhaseHandler},
		"a request held to its rules":            {server, received + " > " + tare + "service/validate.(*Rules).Check > buf.build/go/protovalidate.(*validator).Validate > cel.dev/cel-go/cel.(*prog).Eval", record.PhaseValidate},
		"mapping that the rules need":            {server, received + " > " + tare + "service/validate.(*Rules).Check > " + tare + "workload/orders.orderRequestToProto", record.PhaseValidate},
		"its store":                              {server, handler + " > " + tare + "store/memory.(*payments).Pay > sync.(*Mutex).Lock", record.PhaseStore},
		"a write for its own call":               {server, nextGRP + " > net.(*conn).Write > " + sysWrite, record.PhaseKernel},
		"its own call's encoding":                {server, nextGRP + " > google.golang.org/grpc.encode > " + tare + "protocol/grpc.wire.Marshal > " + tare + "codec/proto.binding.AppendSized > google.golang.org/protobuf/proto.MarshalOptions.MarshalAppend", record.PhaseEncode},
		"a size is encoding":                     {driver, inCall + " > " + tare + "protocol/grpc.wire.Marshal > " + tare + "codec/proto.binding.Size > google.golang.org/protobuf/proto.Size", record.PhaseEncode},
		"encoding's deferred end":                {server, conn + " > " + tare + "codec/json.binding.Append > " + tare + "codec/json.binding.Append.func1 > sync.(*Pool).Put", record.PhaseEncode},
		"decoding":                               {server, conn + " > " + tare + "codec/json.binding.Parse > encoding/json.Unmarshal", record.PhaseDecode},
		"a codec by its pointer":                 {server, conn + " > " + tare + "codec/json.(*binding).Parse > encoding/json.Unmarshal", record.PhaseDecode},
		"decoding that asks the workload's type": {server, conn + " > " + tare + "codec/json.binding.Parse > encoding/json.Unmarshal > " + tare + "workload/orders.(*Status).UnmarshalText", record.PhaseDecode},
		"mapping, which is the workload's":       {server, conn + " > " + tare + "codec/proto.binding.Native > " + tare + "workload/orders.orderToProto > runtime.mallocgc", record.PhaseMap},
		"mapping back":                           {driver, inCall + " > " + tare + "codec/proto.binding.Plain > " + tare + "workload/orders.orderFromProto", record.PhaseMap},
		"what a codec does besides":              {server, conn + " > " + tare + "codec/json.Codec.Bind", record.PhaseLibrary},
		"the standard library compresses":        {server, conn + " > compress/gzip.(*Writer).Write > compress/flate.(*compressor).deflate", record.PhaseCompress},
		"another library compresses":             {server, conn + " > github.com/klauspost/compress/zstd.(*Encoder).Write", record.PhaseCompress},
		"a body that a compressor reads":         {server, conn + " > compress/gzip.(*Reader).Read > net/http.(*body).Read", record.PhaseLibrary},
		"a check within a call":                  {driver, inCall + " > " + tare + "peers/golang.(*session).Send > " + tare + "workload/orders.check.func1", record.PhaseCheck},
		"a call's deadline":                      {driver, loop + " > context.WithTimeout > time.AfterFunc", record.PhaseCheck},
		"keeping what was observed":              {driver, tare + "load.Run.func1 > " + tare + "peers/golang.(*tally).Record > runtime.growslice", record.PhaseCheck},
		"the server's count of bytes":            {server, conn + " > bufio.(*Writer).Flush > " + tare + "peers/golang.(*countedConn).Write", record.PhaseLibrary},
		"marking":                                {server, "runtime.gcBgMarkWorker > runtime.systemstack > runtime.gcDrain > runtime.scanobject", record.PhaseCollect},
		"an assist in a codec":                   {server, conn + " > " + tare + "codec/proto.binding.Parse > runtime.mallocgc > runtime.gcAssistAlloc > runtime.gcDrainN", record.PhaseCollect},
		"a write barrier":                        {server, conn + " > " + tare + "codec/proto.binding.Parse > gcWriteBarrier", record.PhaseCollect},
		"sweeping":                               {server, "runtime.bgsweep > runtime.sweepone > runtime.(*sweepLocked).sweep", record.PhaseCollect},
		"looking for work":                       {server, pick + " > runtime.netpoll > internal/runtime/syscall/linux.EpollWait > internal/runtime/syscall/linux.Syscall6", record.PhaseSchedule},
		"going to sleep":                         {driver, pick + " > runtime.stopm > runtime.futexsleep > runtime.futex", record.PhaseSchedule},
		"marking, chosen by the scheduler":       {server, pick + " > runtime.(*gcControllerState).findRunnableGCWorker", record.PhaseSchedule},
		"what writes the profile":                {server, "runtime/pprof.profileWriter > runtime/pprof.(*profileBuilder).addCPUData", record.PhaseOther},
		"a stack that was lost":                  {server, "runtime._ExternalCode", record.PhaseOther},
		"nothing":                                {server, "", record.PhaseOther},
		"a namesake elsewhere":                   {server, "example.com/codec/json.binding.Append > example.com/netting.Work", record.PhaseOther},
		"slashes in type arguments":              {server, tare + "rpc.first[" + tare + "codec/json.binding.Append] > runtime.memmove", record.PhaseOther},
	} {
		stack := strings.Split(c.stack, " > ")
		slices.Reverse(stack)
		if got := c.rules.Of(stack); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := (Rules{}).Of(nil); got != record.PhaseOther {
		t.Errorf("no stack at all is %s", got)
	}
}

// The methods that the rules look for are those of the interfaces, each once.
func TestEveryMethodOfACodecHasAPhase(t *testing.T) {
	known := slices.Concat(codec.MapMethods, codec.EncodeMethods, codec.DecodeMethods)
	var all []string
	for _, i := range []reflect.Type{reflect.TypeFor[codec.Binding](), reflect.TypeFor[codec.Sizer]()} {
		for n := range i.NumMethod() {
			all = append(all, i.Method(n).Name)
		}
	}
	slices.Sort(known)
	slices.Sort(all)
	if !slices.Equal(known, all) {
		t.Errorf("phases are known of %v; the interfaces have %v", known, all)
	}
}

// Every sample is charged once, its label tells the side of the wire alone.
func TestSamplesAddUp(t *testing.T) {
	r := NewRules(catalog.Default(), record.PhaseHandler)
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, Period: 10_000_000}
	add := func(n int64, label string, stack ...string) {
		s := &profile.Sample{Value: []int64{n}}
		if label != "" {
			s.Label = map[string][]string{toward: {label}}
		}
		for _, name := range stack {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		p.Sample = append(p.Sample, s)
	}
	add(3, "", "runtime.memmove", "net/http.(*conn).serve")
	add(4, next, "runtime.memmove", "net/http.(*persistConn).readLoop")
	add(5, next, "syscall.Syscall", "net/http.(*persistConn).writeLoop")
	add(6, next, tare+"workload/orders.Validate") // the handler is on no side
	add(7, "", "runtime.gcBgMarkWorker")
	add(8, next)
	got, err := r.charge(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []record.PhaseTime{
		{Phase: record.PhaseKernel, Next: true, Seconds: 0.05},
		{Phase: record.PhaseLibrary, Seconds: 0.03},
		{Phase: record.PhaseLibrary, Next: true, Seconds: 0.04},
		{Phase: record.PhaseHandler, Seconds: 0.06},
		{Phase: record.PhaseCollect, Seconds: 0.07},
		{Phase: record.PhaseOther, Seconds: 0.08},
	}
	if !slices.EqualFunc(got.Parts, want, func(a, b record.PhaseTime) bool {
		return a.Phase == b.Phase && a.Next == b.Next && math.Abs(a.Seconds-b.Seconds) < 1e-12
	}) {
		t.Errorf("got %+v", got.Parts)
	}
	if got.Samples != 33 || math.Abs(got.Sampled()-0.33) > 1e-12 {
		t.Errorf("%d samples, which make %v s", got.Samples, got.Sampled())
	}
}

func TestWhatIsNoProfileIsAnError(t *testing.T) {
	if _, err := (Rules{}).Charge(strings.NewReader("no profile")); err == nil {
		t.Error("it is taken for one")
	}
	if _, err := (Rules{}).charge(&profile.Profile{}); err == nil {
		t.Error("samples of no period are taken")
	}
}
