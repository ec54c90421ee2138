package lean_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/lean"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// The benchmarks give the CPU that a call costs its caller, beside that of wrk
// and h2load where these are installed. The servers are a process of their
// own. Machines drift, so compare runs that stand side by side:
//
//	go test ./lean -run - -bench Caller -benchtime 100000x -count 5
const benchInFlight = 50

// asServer, in the environment, makes the test binary the benchmarks' server.
const asServer = "LEAN_BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	if err := serveUntilEOF(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveUntilEOF serves JSON over HTTP/1.1, and payments over gRPC; it prints
// both addresses.
func serveUntilEOF() error {
	reply := []byte(`{"message":"` + strings.Repeat("x", 280) + `"}`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply)
	}))
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	paymentsv1.RegisterPaymentServiceServer(g, payments{})
	go func() {
		fmt.Println(s.Listener.Addr().String(), l.Addr().String())
		_, _ = io.Copy(io.Discard, os.Stdin)
		g.Stop()
	}()
	return g.Serve(l)
}

// servers starts the process of the servers.
func servers(b *testing.B) (json, payments string) {
	server := exec.CommandContext(b.Context(), os.Args[0])
	server.Env = append(os.Environ(), asServer+"=1")
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = server.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	json, payments, _ = strings.Cut(strings.TrimSpace(line), " ")
	return json, payments
}

func BenchmarkCallerOfJSON(b *testing.B) {
	addr, _ := servers(b)
	body := `{"id":"` + strings.Repeat("y", 290) + `"}`
	frame := protocol.Frame{
		Verb: http.MethodPost, Path: "/", Body: []byte(body),
		Header: []protocol.Field{{Name: "content-type", Value: "application/json"}},
		Check: func(a protocol.Answer) error {
			if a.Status != http.StatusOK {
				return rpc.Errorf(rpc.CodeOfStatus(a.Status), "status %d", a.Status)
			}
			return nil
		},
	}
	b.Run("lean", func(b *testing.B) {
		benchmarkLean(b, addr, protocol.Carriage{Conns: benchInFlight, KeepAlive: true}, frame)
	})
	script := filepath.Join(b.TempDir(), "post.lua")
	text := fmt.Sprintf("wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.body = '%s'\n", body)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("wrk", func(b *testing.B) { // it takes a time, not a number
		benchmarkTool(b, `(\d+) requests in`, "wrk", "-t2", "-c50", "-d3s", "-s", script, "http://"+addr+"/")
	})
}

func BenchmarkCallerOfGRPC(b *testing.B) {
	_, addr := servers(b)
	const conns = 4
	frame := payment(b, "ada")
	body := frame.Body
	frame.Check = func(a protocol.Answer) error {
		if a.Field("grpc-status") != "0" {
			return rpc.Errorf(rpc.Unknown, "%v", a.Fields)
		}
		return nil
	}
	b.Run("lean", func(b *testing.B) { benchmarkLean(b, addr, overGRPC(conns), frame) })
	file := filepath.Join(b.TempDir(), "body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("h2load", func(b *testing.B) {
		benchmarkTool(b, `(\d+) succeeded`, "h2load", "-t2", "-c"+strconv.Itoa(conns), "-m"+strconv.Itoa((benchInFlight+conns-1)/conns),
			"-n"+strconv.Itoa(max(b.N, 100)), "-d", file, "-H", "content-type: application/grpc", "-H", "te: trailers", "http://"+addr+frame.Path)
	})
}

func benchmarkLean(b *testing.B, addr string, c protocol.Carriage, f protocol.Frame) {
	client := dial(b, addr, c, func(c *lean.Config) { c.InFlight = benchInFlight })
	next := calls(b, client, f)
	failed := new(failures)
	pace := load.ClosedPace(load.Extent{Exactly: b.N})
	b.ReportAllocs()
	b.ResetTimer()
	before := processorTime(b)
	if _, err := client.Drive(b.Context(), benchInFlight, pace, next, failed); err != nil {
		b.Fatal(err)
	}
	report(b, processorTime(b)-before, b.N)
	if n := failed.n.Load(); n > 0 {
		b.Fatalf("%d calls failed", n)
	}
}

// failures counts them.
type failures struct{ n atomic.Int64 }

func (f *failures) Record(_ int, o load.Observation) {
	if o.Err != nil {
		f.n.Add(1)
	}
}

// benchmarkTool runs a load generator, which prints how many calls it made.
func benchmarkTool(b *testing.B, count, name string, args ...string) {
	if _, err := exec.LookPath(name); err != nil {
		b.Skip(err)
	}
	tool := exec.CommandContext(b.Context(), name, args...)
	out, err := tool.CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	found := regexp.MustCompile(count).FindSubmatch(out)
	if found == nil {
		b.Fatalf("no count in %s", out)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		b.Fatal(err)
	}
	report(b, tool.ProcessState.UserTime()+tool.ProcessState.SystemTime(), n)
}

func report(b *testing.B, cpu time.Duration, calls int) {
	b.ReportMetric(float64(cpu)/float64(calls)/1e3, "cpu-µs/call")
	b.ReportMetric(0, "ns/op")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
