package schema

import (
	"context"

	"github.com/jhump/protoreflect/v2/grpcreflect"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Reflect asks a server, by version 1 of gRPC's reflection or by v1alpha where
// that is all there is. It asks for what is looked up, until ctx ends or close
// is called.
func Reflect(ctx context.Context, server string, cc grpc.ClientConnInterface) (s *Schema, done func()) {
	client := grpcreflect.NewClientAuto(ctx, cc,
		grpcreflect.WithAllowMissingFileDescriptors(),
		grpcreflect.WithFallbackResolvers(protoregistry.GlobalFiles, protoregistry.GlobalTypes))
	return &Schema{
		From:     "the reflection of " + server,
		resolver: client.AsResolver(),
		services: client.ListServices,
	}, client.Reset
}
