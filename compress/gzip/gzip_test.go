package gzip_test

import (
	"testing"

	"github.com/tare-bench/tare/compress/compresstest"
	"github.com/tare-bench/tare/compress/gzip"
)

func TestContract(t *testing.T) { compresstest.Run(t, gzip.Compressor{}) }
