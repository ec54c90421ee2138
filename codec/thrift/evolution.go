package thrift

import (
	pbv1 "github.com/tare-bench/tare/gen/tare/evolution/v1"
	pbv2 "github.com/tare-bench/tare/gen/tare/evolution/v2"
	"github.com/tare-bench/tare/gen/thrift/evolutionv1"
	"github.com/tare-bench/tare/gen/thrift/evolutionv2"
)

// evolutionMessages are the messages of tests before and after a change, mapped by
// way of generated messages, as those of conformance are.
var evolutionMessages = merge(evolutionBefore, evolutionAfter)

var evolutionBefore = map[string]message{
	"tare.evolution.v1.Grown": byProto(
		func(to *evolutionv1.Grown, m *pbv1.Grown) { to.Kept = m.Kept },
		func(to *pbv1.Grown, n *evolutionv1.Grown) { to.Kept = n.Kept }),
	"tare.evolution.v1.Shrunk": byProto(
		func(to *evolutionv1.Shrunk, m *pbv1.Shrunk) { to.Kept, to.Dropped = m.Kept, m.Dropped },
		func(to *pbv1.Shrunk, n *evolutionv1.Shrunk) { to.Kept, to.Dropped = n.Kept, n.Dropped }),
	"tare.evolution.v1.Renamed": byProto(
		func(to *evolutionv1.Renamed, m *pbv1.Renamed) { to.Kept, to.OldName = m.Kept, m.OldName },
		func(to *pbv1.Renamed, n *evolutionv1.Renamed) { to.Kept, to.OldName = n.Kept, n.OldName }),
	"tare.evolution.v1.Relabelled": byProto(
		func(to *evolutionv1.Relabelled, m *pbv1.Relabelled) {
			to.Kept, to.Stage = m.Kept, evolutionv1.Stage(m.Stage)
		},
		func(to *pbv1.Relabelled, n *evolutionv1.Relabelled) { to.Kept, to.Stage = n.Kept, pbv1.Stage(n.Stage) }), //nolint:gosec // read as 32 bits
	"tare.evolution.v1.Opened": byProto(
		func(to *evolutionv1.Opened, m *pbv1.Opened) { to.Kept, to.State = m.Kept, evolutionv1.State(m.State) },
		func(to *pbv1.Opened, n *evolutionv1.Opened) { to.Kept, to.State = n.Kept, pbv1.State(n.State) }), //nolint:gosec // read as 32 bits
	"tare.evolution.v1.Widened": byProto(
		func(to *evolutionv1.Widened, m *pbv1.Widened) { to.Kept, to.Count = m.Kept, m.Count },
		func(to *pbv1.Widened, n *evolutionv1.Widened) { to.Kept, to.Count = n.Kept, n.Count }),
}

var evolutionAfter = map[string]message{
	"tare.evolution.v2.Grown": byProto(
		func(to *evolutionv2.Grown, m *pbv2.Grown) { to.Kept, to.Note = m.Kept, m.Note },
		func(to *pbv2.Grown, n *evolutionv2.Grown) { to.Kept, to.Note = n.Kept, n.Note }),
	"tare.evolution.v2.Shrunk": byProto(
		func(to *evolutionv2.Shrunk, m *pbv2.Shrunk) { to.Kept = m.Kept },
		func(to *pbv2.Shrunk, n *evolutionv2.Shrunk) { to.Kept = n.Kept }),
	"tare.evolution.v2.Renamed": byProto(
		func(to *evolutionv2.Renamed, m *pbv2.Renamed) { to.Kept, to.NewName_ = m.Kept, m.NewName },
		func(to *pbv2.Renamed, n *evolutionv2.Renamed) { to.Kept, to.NewName = n.Kept, n.NewName_ }),
	"tare.evolution.v2.Relabelled": byProto(
		func(to *evolutionv2.Relabelled, m *pbv2.Relabelled) {
			to.Kept, to.Stage = m.Kept, evolutionv2.Stage(m.Stage)
		},
		func(to *pbv2.Relabelled, n *evolutionv2.Relabelled) { to.Kept, to.Stage = n.Kept, pbv2.Stage(n.Stage) }), //nolint:gosec // read as 32 bits
	"tare.evolution.v2.Opened": byProto(
		func(to *evolutionv2.Opened, m *pbv2.Opened) { to.Kept, to.State = m.Kept, evolutionv2.State(m.State) },
		func(to *pbv2.Opened, n *evolutionv2.Opened) { to.Kept, to.State = n.Kept, pbv2.State(n.State) }), //nolint:gosec // read as 32 bits
	"tare.evolution.v2.Widened": byProto(
		func(to *evolutionv2.Widened, m *pbv2.Widened) { to.Kept, to.Count = m.Kept, m.Count },
		func(to *pbv2.Widened, n *evolutionv2.Widened) { to.Kept, to.Count = n.Kept, n.Count }),
}
