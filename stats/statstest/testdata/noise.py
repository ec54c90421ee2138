"""Takes the trials out of a results file, and says how they vary.

    python3 noise.py RESULTS.jsonl > itself.csv

The results are of two scenarios that are the same stack. What it says of them, on
stderr, is in METHOD.md.
"""
import collections
import json
import math
import statistics
import sys

trials = []
with open(sys.argv[1]) as file:
    for line in map(json.loads, file):
        trial = line.get("trial")
        if trial and "load" in trial and len(trial["processes"]) >= 2:
            trials.append(trial)


def cpu(usage):
    return usage["cpu_user_s"] + usage["cpu_system_s"]


print("block,round,scenario,calls,window_calls,window_s,driver_cpu_s,servers_cpu_s")
pairs = collections.defaultdict(dict)
for trial in trials:
    load, used = trial["load"], trial["processes"]
    servers = sum(map(cpu, used[1:]))
    print(trial["block"], trial["round"], trial["scenario"], load["calls"], load["window_calls"],
          f'{load["window_s"]:.6f}', f"{cpu(used[0]):.6f}", f"{servers:.6f}", sep=",")
    pairs[trial["block"], trial["round"]][trial["scenario"]] = {
        "server_cpu_per_call": math.log(servers / load["calls"]),
        "throughput": math.log(load["window_calls"] / load["window_s"]),
    }

for metric in ("server_cpu_per_call", "throughput"):
    blocks, levels = collections.defaultdict(list), []
    for (block, _), pair in sorted(pairs.items()):
        if len(pair) == 2:
            blocks[block].append(pair[1][metric] - pair[0][metric])
            levels += [pair[0][metric], pair[1][metric]]
    inside = math.sqrt(statistics.mean(statistics.variance(b) for b in blocks.values()))
    means = [statistics.mean(b) for b in blocks.values()]
    rounds = statistics.mean(map(len, blocks.values()))
    between = math.sqrt(max(0, statistics.variance(means) - inside**2 / rounds))
    m = statistics.mean(levels)
    beside = sum((a - m) * (b - m) for a, b in zip(levels, levels[1:])) / sum((a - m) ** 2 for a in levels)
    print(f"{metric}: {len(blocks)} blocks of {rounds:.0f} rounds; a pair of trials varies by {inside:.3f}, "
          f"a restart by {between:.4f}; trials beside one another correlate by {beside:.2f}; "
          f"mean {statistics.mean(means):+.4f} ± {statistics.stdev(means) / math.sqrt(len(means)):.4f}", file=sys.stderr)
