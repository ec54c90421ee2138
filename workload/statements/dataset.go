package statements

import (
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/dataset"
)

// Dataset says how statements are moved in bulk without a service.
func (Workload) Dataset() workload.Dataset { return dataset.Statements() }
