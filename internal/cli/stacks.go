package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/internal/environment"
	"github.com/tare-bench/tare/setting"
)

func (a *app) stacksCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stacks", Short: "List the catalogue, with library versions", Args: none,
		Long: `List what stacks are made of. A stack is spelled
PROTOCOL+CODEC[+COMPRESSOR][@SETTING=VALUE]…, for instance rest+json,
grpc+proto+gzip, rest+json@http=2 or grpc+proto@conns=8.`,
		RunE: func(*cobra.Command, []string) error { return a.stacks(a.Out) },
	}
}

// entry is one row of the catalogue's listing.
type entry struct{ name, module, about string }

func (a *app) stacks(out io.Writer) error {
	versions := environment.Libraries(a.catalog.Modules())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	section := func(title string, rows []entry) {
		fmt.Fprintf(w, "%s\n", title)
		for _, r := range rows {
			version := ""
			if r.module != "" {
				version = strings.TrimSpace(r.module + " " + versions[r.module])
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\n", r.name, version, r.about)
		}
	}
	var protocols, settings, codecs, compressors, stores, workloads []entry
	for _, p := range a.catalog.Protocols {
		s := p.Spec()
		protocols = append(protocols, entry{s.Name, s.Module, s.About})
		for _, o := range s.Settings {
			settings = append(settings, settingRow(s.Name+"+…@"+o.Name, o))
		}
	}
	for _, k := range a.catalog.Codecs {
		s := k.Spec()
		codecs = append(codecs, entry{s.Name, s.Module, s.About})
	}
	for _, k := range a.catalog.Compressors {
		s := k.Spec()
		compressors = append(compressors, entry{s.Name, s.Module, s.About})
	}
	for _, k := range a.catalog.Stores {
		s := k.Spec()
		stores = append(stores, entry{s.Name, s.Module, s.About})
	}
	for _, k := range a.catalog.Workloads {
		s := k.Spec()
		workloads = append(workloads, entry{s.Name, "", s.About})
		for _, l := range s.Legs {
			workloads = append(workloads, entry{"  --leg " + l.Name, "", l.About})
		}
		for _, p := range s.Params {
			workloads = append(workloads, settingRow("  --param "+p.Name, p))
		}
	}
	section("PROTOCOLS", protocols)
	section("\nSETTINGS of a protocol, after @", settings)
	section("\nCODECS", codecs)
	section("\nCOMPRESSORS, of messages, both ways", compressors)
	section("\nSTORES", stores)
	section("\nWORKLOADS", workloads)
	return w.Flush()
}

func settingRow(name string, s setting.Setting) entry {
	return entry{name + "=" + s.Default, "", fmt.Sprintf("%s; takes %s", s.About, s.Takes)}
}
