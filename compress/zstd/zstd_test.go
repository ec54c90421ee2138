package zstd_test

import (
	"testing"

	"github.com/tare-bench/tare/compress/compresstest"
	"github.com/tare-bench/tare/compress/zstd"
)

func TestContract(t *testing.T) { compresstest.Run(t, zstd.Compressor{}) }
