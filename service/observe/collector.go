package observe

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans by OTLP over HTTP. OpenTelemetry's own client of it would
// enter a compressor in grpc-go's table, which is of the whole process: every
// gRPC call that is compared would tell of it in its header.
// Source: opentelemetry.io/docs/specs/otlp, OTLP/HTTP.
type collector struct {
	url     string
	header  http.Header
	timeout time.Duration // of a batch, with all attempts
	client  *http.Client
}

// The variables that say how to reach a collector; the second of each pair is for
// spans alone and comes first.
// Source: opentelemetry.io/docs/specs/otel/protocol/exporter.
var (
	varsHeaders     = [2]string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"}
	varsTimeout     = [2]string{"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"}
	varsCertificate = [2]string{"OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"}
)

const (
	collectorByDefault = "http://localhost:4318"
	exportTimeout      = 10 * time.Second
	longestRefusal     = 4 << 10 // of what a collector says against a batch
)

func newCollector(getenv func(string) string) (*collector, error) {
	c := &collector{url: getenv(varTracesEndpoint), header: http.Header{"Content-Type": {"application/x-protobuf"}}, timeout: exportTimeout}
	if c.url == "" {
		base := getenv(varEndpoint)
		if base == "" {
			base = collectorByDefault
		}
		c.url = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if name, given := either(getenv, varsHeaders); given != "" {
		for pair := range strings.SplitSeq(given, ",") {
			key, value, found := strings.Cut(pair, "=")
			decoded, err := url.QueryUnescape(strings.TrimSpace(value))
			if !found || err != nil || strings.TrimSpace(key) == "" {
				return nil, fmt.Errorf("%s: takes NAME=VALUE, separated by commas", name) // it may hold a secret
			}
			c.header.Set(strings.TrimSpace(key), decoded)
		}
	}
	if name, given := either(getenv, varsTimeout); given != "" {
		ms, err := strconv.Atoi(given)
		if err != nil || ms < 1 {
			return nil, fmt.Errorf("%s=%s: takes milliseconds, from 1 on", name, given)
		}
		c.timeout = time.Duration(ms) * time.Millisecond
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if name, file := either(getenv, varsCertificate); file != "" {
		text, err := os.ReadFile(file)
		roots := x509.NewCertPool()
		if err == nil && !roots.AppendCertsFromPEM(text) {
			err = errors.New("holds no certificate in PEM")
		}
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", name, file, err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	c.client = &http.Client{Transport: transport}
	return c, nil
}

// either gives the variable of a pair that says something, and what.
func either(getenv func(string) string, pair [2]string) (name, value string) {
	if value := getenv(pair[1]); value != "" {
		return pair[1], value
	}
	return pair[0], getenv(pair[0])
}

// Start implements otlptrace.Client. It connects when there is something to send.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. A collector that is busy is asked
// again for as long as the time-out lets it.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// On the wire it is an ExportTraceServiceRequest, whose Go package stands on
	// grpc-gateway.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.post(ctx, body) })
	return err
}

// post makes one attempt. Its error is permanent where another would be in vain.
func (c *collector) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	r.Header = c.header
	res, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // what it is asked for is read by then
	if res.StatusCode/100 == 2 {
		_, err := io.Copy(io.Discard, res.Body)
		return err
	}
	why, _ := io.ReadAll(io.LimitReader(res.Body, longestRefusal)) // as far as it comes
	err = fmt.Errorf("collector answers %s: %q", res.Status, why)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
			return backoff.RetryAfter(s)
		}
		return err
	}
	return backoff.Permanent(err)
}
