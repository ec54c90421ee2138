package evolution

import (
	"fmt"

	v1 "github.com/tare-bench/tare/gen/tare/evolution/v1"
	v2 "github.com/tare-bench/tare/gen/tare/evolution/v2"
	"github.com/tare-bench/tare/rpc"
)

// The messages as plain structs, in both versions where they differ. Their JSON
// is ProtoJSON, as that of workloads' structs is.
type (
	grownV1 struct {
		Kept string `json:"kept"`
	}
	grownV2 struct {
		Kept string `json:"kept"`
		Note string `json:"note"`
	}
	shrunkV1 struct {
		Kept    string `json:"kept"`
		Dropped string `json:"dropped"`
	}
	shrunkV2 struct {
		Kept string `json:"kept"`
	}
	renamedV1 struct {
		Kept    string `json:"kept"`
		OldName string `json:"oldName"`
	}
	renamedV2 struct {
		Kept    string `json:"kept"`
		NewName string `json:"newName"`
	}
	relabelledV1 struct {
		Kept  string  `json:"kept"`
		Stage stageV1 `json:"stage"`
	}
	relabelledV2 struct {
		Kept  string  `json:"kept"`
		Stage stageV2 `json:"stage"`
	}
	openedV1 struct {
		Kept  string  `json:"kept"`
		State stateV1 `json:"state"`
	}
	openedV2 struct {
		Kept  string  `json:"kept"`
		State stateV2 `json:"state"`
	}
	widenedV1 struct {
		Kept  string `json:"kept"`
		Count int32  `json:"count"`
	}
	widenedV2 struct {
		Kept  string `json:"kept"`
		Count int64  `json:"count,string"`
	}
)

// Enums are numbers in protobuf, and names in JSON.
type stageV1 int32
type stageV2 int32
type stateV1 int32
type stateV2 int32

func (s stageV1) MarshalText() ([]byte, error)  { return name(v1.Stage_name, int32(s)) }
func (s *stageV1) UnmarshalText(b []byte) error { return number(v1.Stage_value, b, (*int32)(s)) }
func (s stageV2) MarshalText() ([]byte, error)  { return name(v2.Stage_name, int32(s)) }
func (s *stageV2) UnmarshalText(b []byte) error { return number(v2.Stage_value, b, (*int32)(s)) }
func (s stateV1) MarshalText() ([]byte, error)  { return name(v1.State_name, int32(s)) }
func (s *stateV1) UnmarshalText(b []byte) error { return number(v1.State_value, b, (*int32)(s)) }
func (s stateV2) MarshalText() ([]byte, error)  { return name(v2.State_name, int32(s)) }
func (s *stateV2) UnmarshalText(b []byte) error { return number(v2.State_value, b, (*int32)(s)) }

func name(names map[int32]string, n int32) ([]byte, error) {
	if known, ok := names[n]; ok {
		return []byte(known), nil
	}
	return nil, fmt.Errorf("no name for %d", n)
}

func number(numbers map[string]int32, text []byte, n *int32) error {
	known, ok := numbers[string(text)]
	if !ok {
		return fmt.Errorf("no value %q", text)
	}
	*n = known
	return nil
}

// The types of both versions.
var (
	grown = pair{
		rpc.NewType(func(p *grownV1) *v1.Grown { return &v1.Grown{Kept: p.Kept} },
			func(m *v1.Grown) *grownV1 { return &grownV1{m.GetKept()} }),
		rpc.NewType(func(p *grownV2) *v2.Grown { return &v2.Grown{Kept: p.Kept, Note: p.Note} },
			func(m *v2.Grown) *grownV2 { return &grownV2{m.GetKept(), m.GetNote()} }),
	}
	shrunk = pair{
		rpc.NewType(func(p *shrunkV1) *v1.Shrunk { return &v1.Shrunk{Kept: p.Kept, Dropped: p.Dropped} },
			func(m *v1.Shrunk) *shrunkV1 { return &shrunkV1{m.GetKept(), m.GetDropped()} }),
		rpc.NewType(func(p *shrunkV2) *v2.Shrunk { return &v2.Shrunk{Kept: p.Kept} },
			func(m *v2.Shrunk) *shrunkV2 { return &shrunkV2{m.GetKept()} }),
	}
	renamed = pair{
		rpc.NewType(func(p *renamedV1) *v1.Renamed { return &v1.Renamed{Kept: p.Kept, OldName: p.OldName} },
			func(m *v1.Renamed) *renamedV1 { return &renamedV1{m.GetKept(), m.GetOldName()} }),
		rpc.NewType(func(p *renamedV2) *v2.Renamed { return &v2.Renamed{Kept: p.Kept, NewName: p.NewName} },
			func(m *v2.Renamed) *renamedV2 { return &renamedV2{m.GetKept(), m.GetNewName()} }),
	}
	relabelled = pair{
		rpc.NewType(func(p *relabelledV1) *v1.Relabelled { return &v1.Relabelled{Kept: p.Kept, Stage: v1.Stage(p.Stage)} },
			func(m *v1.Relabelled) *relabelledV1 { return &relabelledV1{m.GetKept(), stageV1(m.GetStage())} }),
		rpc.NewType(func(p *relabelledV2) *v2.Relabelled { return &v2.Relabelled{Kept: p.Kept, Stage: v2.Stage(p.Stage)} },
			func(m *v2.Relabelled) *relabelledV2 { return &relabelledV2{m.GetKept(), stageV2(m.GetStage())} }),
	}
	opened = pair{
		rpc.NewType(func(p *openedV1) *v1.Opened { return &v1.Opened{Kept: p.Kept, State: v1.State(p.State)} },
			func(m *v1.Opened) *openedV1 { return &openedV1{m.GetKept(), stateV1(m.GetState())} }),
		rpc.NewType(func(p *openedV2) *v2.Opened { return &v2.Opened{Kept: p.Kept, State: v2.State(p.State)} },
			func(m *v2.Opened) *openedV2 { return &openedV2{m.GetKept(), stateV2(m.GetState())} }),
	}
	widened = pair{
		rpc.NewType(func(p *widenedV1) *v1.Widened { return &v1.Widened{Kept: p.Kept, Count: p.Count} },
			func(m *v1.Widened) *widenedV1 { return &widenedV1{m.GetKept(), m.GetCount()} }),
		rpc.NewType(func(p *widenedV2) *v2.Widened { return &v2.Widened{Kept: p.Kept, Count: p.Count} },
			func(m *v2.Widened) *widenedV2 { return &widenedV2{m.GetKept(), m.GetCount()} }),
	}
)
