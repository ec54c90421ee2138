package observe

import "context"

type inKey struct{}
type outKey struct{}

func fieldIn(ctx context.Context, name string) string {
	m, _ := ctx.Value(inKey{}).(map[string]string)
	return m[name]
}

func withFieldsOut(ctx context.Context, out outgoing) context.Context {
	return context.WithValue(ctx, outKey{}, out)
}
