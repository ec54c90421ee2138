package tunnel

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/record"
)

// tunnel is a link.Network.
type tunnel struct {
	space     *namespace
	devices   [2]int // near and far, which are forward's too
	far       netip.Addr
	forwarder *forwarder
	made      time.Time
}

// Open makes a tunnel. It wraps link.ErrNotPermitted where this user may not.
// Equal seeds lose the same packets, as far as the same come.
func Open(s link.Spec, seed uint64) (link.Network, error) {
	t := &tunnel{devices: [2]int{-1, -1}, made: time.Now()}
	if err := t.open(s, seed); err != nil {
		err = fmt.Errorf("make link: %w", errors.Join(permission(err), t.release()))
		return nil, err
	}
	return t, nil
}

// permission says of an error whether it is one of privileges.
func permission(err error) error {
	for _, refusal := range []error{unix.EPERM, unix.EACCES, unix.ENOENT, unix.ENODEV, unix.ENXIO} {
		if errors.Is(err, refusal) {
			return fmt.Errorf("%w: %w; a tunnel takes root, or CAP_SYS_ADMIN and CAP_NET_ADMIN, and /dev/net/tun", link.ErrNotPermitted, err)
		}
	}
	return err
}

func (t *tunnel) open(s link.Spec, seed uint64) (err error) {
	if t.space, err = newNamespace(); err != nil {
		return err
	}
	near, index, err := openDevice(nearName)
	if err != nil {
		return err
	}
	t.devices[0] = near
	ends, err := addresses(index)
	if err != nil {
		return err
	}
	if err := configure(fmt.Sprintf(nearName, index), ends[0], ends[1]); err != nil {
		return err
	}
	t.far = ends[1]
	err = t.space.within(func() error {
		if t.devices[1], _, err = openDevice(farName); err != nil {
			return err
		}
		return errors.Join(raise(loopback), configure(fmt.Sprintf(farName, 0), ends[1], ends[0]))
	})
	if err != nil {
		return err
	}
	t.forwarder, err = forward(t.devices[0], t.devices[1], s, seed)
	return err
}

// addresses gives the two ends of the index-th tunnel of this machine: out of
// 198.19.0.0/16, the upper half of what RFC 2544 sets aside for measuring
// networks. The kernel gives each device an index of its own, so two tunnels
// at a time have no address in common.
func addresses(index int) (ends [2]netip.Addr, err error) {
	const block, most = 4, 1 << 14
	if index >= most {
		return ends, fmt.Errorf("there are %d tunnels already", index)
	}
	first := block * index
	for i := range ends {
		ends[i] = netip.AddrFrom4([4]byte{198, 19, byte(first >> 8), byte(first + 1 + i)})
	}
	return ends, nil
}

func (t *tunnel) Start(start func() error) error { return t.space.within(start) }

func (t *tunnel) Listen() string { return netip.AddrPortFrom(t.far, 0).String() }

func (t *tunnel) Reach(_ context.Context, addr string) (string, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || at.Addr() != t.far {
		return "", fmt.Errorf("it listens at %s and cannot be reached across the link: asked was %s, any port", addr, t.far)
	}
	return addr, nil
}

func (t *tunnel) Used() record.LinkUsed {
	u := record.LinkUsed{Seconds: time.Since(t.made).Seconds(), CPUS: t.forwarder.cpu().Seconds()}
	for _, l := range t.forwarder.ways {
		u.Packets += l.counted.packets.Load()
		u.Bytes += l.counted.bytes.Load()
		u.Lost += l.counted.lost.Load()
		u.Dropped += l.counted.dropped.Load()
	}
	return u
}

func (t *tunnel) Close() error {
	if err := errors.Join(t.forwarder.stop(), t.release()); err != nil {
		return fmt.Errorf("end link: %w", err)
	}
	return nil
}

// release lets go of what there is. The devices vanish with their descriptors,
// the namespace with its last process.
func (t *tunnel) release() error {
	var errs []error
	for _, fd := range t.devices {
		if fd >= 0 {
			errs = append(errs, os.NewSyscallError("close", unix.Close(fd)))
		}
	}
	if t.space != nil {
		errs = append(errs, t.space.release())
	}
	return errors.Join(errs...)
}
