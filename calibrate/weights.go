package calibrate

// Weights are all the weights, in the order in which they are weighed. A new
// one is an entry here and the function that weighs it.
var Weights = []Weight{
	{
		Name:    "null",
		About:   "calls that are answered without protocol or socket, in this process",
		Formula: "what is left is tare's own cost; the loop allocates nothing",
		weigh:   weighNull,
	},
	{
		Name:    "wait",
		About:   "a server that waits for d = 1, 5, 20 ms before it answers, at 3,470 calls/s",
		Formula: "latency p50 in [d, d + 0.3 ms]",
		weigh:   weighWait,
	},
	{
		Name:    "stall",
		About:   "a server that stands still for s = 1 s in T = 8 s",
		Formula: "open loop: p(q) = s − (1 − q) T; closed loop of N: no more than N calls are long",
		weigh:   weighStall,
	},
	{
		Name:    "queue",
		About:   "one server, calls at random: busy for a share ρ of the time with d for each (M/D/1), or exponential times (M/M/1)",
		Formula: "mean wait ρ d / (2 (1 − ρ)) within 10 %; response quantile −ln(1 − q) d / (1 − ρ) within 25 %",
		weigh:   weighQueue,
	},
	{
		Name:    "little",
		About:   "a closed loop of 16 without a weight",
		Formula: "throughput × mean latency = mean in flight, within 1 %",
		weigh:   weighLittle,
	},
	{
		Name:    "bytes",
		About:   "the workload's own stacks, their sockets read from the kernel",
		Formula: "sums of what driver and server count = bytes received by the kernel (TCP_INFO), but for one ping of HTTP/2 that may be under way (17 B)",
		weigh:   weighBytes,
	},
	{
		Name:    "cpu",
		About:   "a server that has one thread spend 50 or 200 µs of CPU on each call",
		Formula: "server CPU per call, less what the kernel says of all other threads, is that, within 5 %",
		weigh:   weighCPU,
	},
	{
		Name:    "same",
		About:   "a stack against itself, in a few runs (--runs 40 for certainty)",
		Formula: "verdicts of higher or lower in no more runs than chance allows: 3 of 40",
		weigh:   weighSame,
	},
	{
		Name:    "slow10",
		About:   "a server with 10 % more CPU per call, 30 s under load; and what else could be told",
		Formula: "found as higher",
		weigh:   weighSlow(0.10, 30),
	},
	{
		Name:    "slow5",
		About:   "a server with 5 % more CPU per call, 120 s under load",
		Formula: "found as higher",
		Long:    true,
		weigh:   weighSlow(0.05, 120),
	},
	{
		Name:    "slow3",
		About:   "a server with 3 % more CPU per call, 30 s under load: for a quiet machine",
		Formula: "found as higher",
		Long:    true,
		weigh:   weighSlow(0.03, 30),
	},
}
