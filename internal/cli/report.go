package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

type renderer string

func (a *app) renderer(string) (renderer, error) { return "", nil }
func declareFormat(c *cobra.Command, f *string)  { c.Flags().StringVar(f, "format", "text", "") }
func (a *app) reportCommand() *cobra.Command     { return &cobra.Command{Use: "report"} }
func (a *app) facts() catalog.Facts              { return catalog.Facts{Catalog: a.catalog} }
func (a *app) show(r *record.Run, _ renderer) error {
	x, err := stats.Analyze(r)
	if err != nil {
		return err
	}
	for _, s := range x.Scenarios {
		a.Out.Write([]byte(s.Name + "\n"))
		for _, l := range s.Levels {
			b, _ := json.Marshal([]any{l.Metric.Name, l.Low, l.Value, l.High, l.Reason})
			a.Out.Write(append(b, '\n'))
		}
	}
	return nil
}

var planFormats = []string{"text", "json"}

func (a *app) printPlan(any, string) error {
	return nil
}
