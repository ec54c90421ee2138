package csv

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tare-bench/tare/report"
)

// CodecColumns are those of a run of codecs: a row for each codec and metric, and
// kind of message. A compressed size is the metric bytes_COMPRESSOR.
var CodecColumns = []string{
	"message", "items", "codec", "metric", "unit", "low", "value", "high", "ratio_low", "ratio_value", "ratio_high", "verdict",
}

// RenderCodecs writes a run of codecs.
func (Renderer) RenderCodecs(w io.Writer, c *report.Codecs) error {
	rows := [][]string{CodecColumns}
	for _, m := range c.Messages {
		for _, l := range m.Codecs {
			for _, metric := range c.Metrics {
				name, v := metric.Name, l.Metrics[metric.Name]
				ratio, verdict := report.Value{}, ""
				if r := c.Find(m.Name, l.Codec, name); r != nil {
					ratio, verdict = r.Ratio, r.Verdict
				}
				rows = append(rows, []string{
					m.Name, fmt.Sprint(m.Items), l.Codec, name, v.Unit, number(v.Low), number(v.Value), number(v.High),
					number(ratio.Low), number(ratio.Value), number(ratio.High), verdict,
				})
			}
			for _, name := range slices.Sorted(maps.Keys(l.Compressed)) {
				size := number(new(l.Compressed[name]))
				rows = append(rows, []string{m.Name, fmt.Sprint(m.Items), l.Codec, "bytes_" + name, "B", size, size, size, "", "", "", ""})
			}
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("render CSV: %w", err)
	}
	return nil
}
