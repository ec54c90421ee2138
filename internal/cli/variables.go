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
		variable := variableOf(prefix, flag)
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

func variableOf(prefix string, f *pflag.Flag) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// strays gives the variables that begin with prefix and set no flag: misspelled
// ones, or such as orchestrators make up.
func strays(f *pflag.FlagSet, prefix string, environ []string) (names []string) {
	known := make(map[string]bool)
	f.VisitAll(func(flag *pflag.Flag) { known[variableOf(prefix, flag)] = true })
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, prefix) && !known[name] {
			names = append(names, name)
		}
	}
	return names
}
