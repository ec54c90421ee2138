package known

import (
	"fmt"
	"strings"
	"time"

	"github.com/tare-bench/tare/setting"
)

const (
	waitName   = "wait"
	burnName   = "burn"
	spendName  = "spend"
	serialName = "serial"
	stallName  = "stall"
	nothing    = "0s"
	random     = "exp:" // before the mean of an exponential service time
)

// settings are the weights.
var settings = []setting.Setting{
	declare(waitName, "each call waits so long", "a time, as 5ms"),
	declare(burnName, "each call uses so much CPU", "a time, as 50us"),
	declare(spendName, "each call waits until one thread, the same for all calls, has used so much CPU", "a time, as 50us"),
	declare(serialName, "calls are served one at a time, in the order of their coming, each for so long", "a time, as 2ms, or exp:2ms for exponential times of that mean"),
	declare(stallName, "the server stands still once for so long, some time after its first call", "TIME:TIME, as 1s:6s"),
}

func declare(name, about, takes string) setting.Setting {
	return setting.Setting{Name: name, Default: nothing, About: about, Takes: takes, Check: func(v string) error {
		_, err := weightOf(setting.Values{name: v})
		return err
	}}
}

// weight is what a server carries beside its calls; zero is none.
type weight struct {
	wait, burn, spend time.Duration
	serial            service
	stall             stall
}

type service struct {
	mean        time.Duration
	exponential bool
}

type stall struct{ length, after time.Duration }

// weightOf reads settings; those that are missing are none.
func weightOf(v setting.Values) (w weight, err error) {
	mean := v[serialName]
	mean, w.serial.exponential = strings.CutPrefix(mean, random)
	length, after, stalls := strings.Cut(v[stallName], ":")
	if length != "" && length != nothing && !stalls {
		return w, fmt.Errorf("no moment after a colon")
	}
	if mean == "" && w.serial.exponential {
		return w, fmt.Errorf("no mean after %s", random)
	}
	for _, d := range []struct {
		text string
		into *time.Duration
	}{
		{v[waitName], &w.wait}, {v[burnName], &w.burn}, {v[spendName], &w.spend}, {mean, &w.serial.mean},
		{length, &w.stall.length}, {after, &w.stall.after},
	} {
		if d.text == "" {
			continue
		}
		if *d.into, err = time.ParseDuration(d.text); err != nil {
			return w, fmt.Errorf("not a time: %q", d.text)
		}
		if *d.into < 0 {
			return w, fmt.Errorf("less than nothing: %q", d.text)
		}
	}
	return w, nil
}
