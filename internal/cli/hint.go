package cli

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/tare-bench/tare/call/wire"
	"github.com/tare-bench/tare/codecbench"
	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/runner"
	"github.com/tare-bench/tare/stats"
)

// hints pair what an error is with what to do about it; the first that fits
// is given.
var hints = []struct {
	fits func(error) bool
	text string
}{
	{is(fs.ErrExist), "give another folder with --out; results are never overwritten"},
	{is(record.ErrNotResults), "tare report prints what tare compare keeps, and tare codecs --from what tare codecs does"},
	{is(syscall.ENOSPC), "free some space, or give a folder on another disk with --out; what was kept until now can be printed with tare report"},
	{is(syscall.EADDRINUSE), "another program listens there; give another address with --listen"},
	{is(link.ErrNotPermitted), "run as root, or as a user with these rights; a link without losses can be had with by=relay"},
	{is(syscall.EACCES), "this user may not; look at the permissions of what the error names"},
	{is(errUnjudged), "measure for longer, with --for or --calls, and in --blocks 5 or more; find out why calls fail"},
	{as[*stats.IncomparableError], "compare runs of the same workload, leg, parameters, link, load, driver and store; only when, where and with which versions they ran may differ"},
	{as[*codecbench.WrongError], "to time unequal work would compare nothing; mend the codec, or leave it out with --codecs"},
	{as[*runner.AnswerError], "to time unequal work would compare nothing; call the service by itself with tare serve and mend it first"},
	{says("unknown protocol", "unknown codec", "unknown compressor", "no setting", "is spelled PROTOCOL"), "tare stacks lists what stacks are made of"},
	{func(err error) bool { return says("compile schema")(err) && errors.Is(err, fs.ErrNotExist) }, "say where the files that are imported are, with -I FOLDER"},
	{says(": unknown field \""), "tare call --template METHOD prints a request with all its fields"},
	{is(wire.ErrCompressed), "say by what, with --encoding NAME; tare stacks lists the compressors"},
	{says("unknown workload", "unknown store"), "tare stacks lists the workloads and stores"},
	{as[*runner.StallError], "call the service by itself with tare serve; a longer --timeout helps only if it is slow"},
	{as[*runner.LeftoverError], "remove by hand what the error names: it holds nothing that a result needs"},
	{says(") died"), "what was measured before can be printed with tare report FOLDER"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

func says(words ...string) func(error) bool {
	return func(err error) bool {
		for _, w := range words {
			if strings.Contains(err.Error(), w) {
				return true
			}
		}
		return false
	}
}

// hintFor gives the remedy for err, or "".
func hintFor(err error) string {
	var interrupted *interruptedError
	if errors.As(err, &interrupted) && interrupted.folder != "" {
		return "print what there is with tare report " + interrupted.folder
	}
	var knows interface{ Hint() string }
	if errors.As(err, &knows) {
		return knows.Hint()
	}
	for _, h := range hints {
		if h.fits(err) {
			return h.text
		}
	}
	return ""
}
