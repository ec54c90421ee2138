package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// repeated are the flags that may be given more than once.
var repeated = []string{"param", "cors-origin"}

// fromEnvironment sets each flag that was not typed from its variable: prefix,
// then the flag's name in capitals. An error names the variable.
func fromEnvironment(f *pflag.FlagSet, prefix string, env func(string) string) (err error) {
	f.VisitAll(func(flag *pflag.Flag) {
		variable := prefix + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		text := env(variable)
		if err != nil || flag.Changed || text == "" {
			return
		}
		values := []string{text}
		if slices.Contains(repeated, flag.Name) {
			values = strings.Split(text, ",")
		}
		for _, v := range values {
			if wrong := flag.Value.Set(v); wrong != nil {
				err = fmt.Errorf("%s=%s: %w", variable, text, wrong)
				return
			}
		}
		flag.Changed = true
	})
	return err
}
