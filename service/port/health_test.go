package port_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/service/port"
)

const (
	serving    = healthv1.HealthCheckResponse_SERVING
	notServing = healthv1.HealthCheckResponse_NOT_SERVING
)

// get gives what a GET is answered.
func get(t *testing.T, h *http.Client, url string) (status int, body string) {
	t.Helper()
	res, err := h.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func check(t *testing.T, c healthv1.HealthClient, service string) healthv1.HealthCheckResponse_ServingStatus {
	t.Helper()
	res, err := c.Check(patient(t), &healthv1.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetStatus()
}

func TestHealthIsThatOfWhatTheServicesNeed(t *testing.T) {
	var broken atomic.Bool
	r := serve(t, func(c *port.Config) {
		c.Ready = func(context.Context) error {
			if broken.Load() {
				return errors.New("the store is gone")
			}
			return nil
		}
	})
	c := healthv1.NewHealthClient(channel(t, r.addr, nil))
	w, err := c.Watch(patient(t), &healthv1.HealthCheckRequest{Service: conformance.Service.Name})
	if err != nil {
		t.Fatal(err)
	}
	h := transport(t, "1.1", nil)
	wantReady := func(ready bool) {
		t.Helper()
		status, text, said := http.StatusServiceUnavailable, "the store is gone", notServing
		if ready {
			status, text, said = http.StatusOK, "ready", serving
		}
		if got, err := w.Recv(); err != nil || got.GetStatus() != said {
			t.Fatalf("the watch says %v, %v, want %v", got.GetStatus(), err, said)
		}
		for _, name := range []string{"", conformance.Service.Name} {
			if got := check(t, c, name); got != said {
				t.Errorf("health of %q is %v, want %v", name, got, said)
			}
		}
		if got, body := get(t, h, "http://"+r.addr+"/readyz"); got != status || !strings.Contains(body, text) {
			t.Errorf("/readyz answers %d %q, want %d and %q", got, body, status, text)
		}
		if got, _ := get(t, h, "http://"+r.addr+"/healthz"); got != http.StatusOK {
			t.Errorf("/healthz answers %d", got)
		}
	}
	wantReady(true)
	broken.Store(true)
	wantReady(false)
	broken.Store(false)
	wantReady(true)
	_, err = c.Check(patient(t), &healthv1.HealthCheckRequest{Service: "no.Such"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("health of an unknown service gives %v, want NOT_FOUND", err)
	}
}

func TestReflectionListsAndDescribesServices(t *testing.T) {
	r := serve(t)
	cc := channel(t, r.addr, nil)
	s, err := reflectionv1.NewServerReflectionClient(cc).ServerReflectionInfo(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	list, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, svc := range list.GetListServicesResponse().GetService() {
		names = append(names, svc.GetName())
	}
	want := []string{"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection", conformance.Service.Name}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("services are %q, want %q", names, want)
	}
	_ = s.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: conformance.Service.Name}})
	files, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var file descriptorpb.FileDescriptorProto
	if all := files.GetFileDescriptorResponse().GetFileDescriptorProto(); len(all) == 0 || proto.Unmarshal(all[0], &file) != nil {
		t.Fatalf("no file: %v", files)
	}
	if got := file.GetService()[0].GetMethod()[0].GetName(); got != conformance.Echo.Name {
		t.Errorf("the first method is %q, want %q", got, conformance.Echo.Name)
	}

	alpha, err := reflectionv1alpha.NewServerReflectionClient(cc).ServerReflectionInfo(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	_ = alpha.Send(&reflectionv1alpha.ServerReflectionRequest{MessageRequest: &reflectionv1alpha.ServerReflectionRequest_ListServices{}}) //nolint:staticcheck // what older clients ask
	older, err := alpha.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(older.GetListServicesResponse().GetService()); n != len(want) { //nolint:staticcheck // what older clients ask
		t.Errorf("v1alpha lists %d services, want %d", n, len(want))
	}
}
