package tunnel

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tare-bench/tare/link"
)

// Names of devices; the kernel fills in the lowest number that is free.
const (
	nearName = "tare%d"
	farName  = "far%d"
	loopback = "lo"
)

// deviceQueue is how many packets a device holds until the forwarder takes them:
// more than the windows of the connections, so that only the link's own queue
// is ever full.
const deviceQueue = 10_000

// openDevice makes a TUN device in the calling thread's namespace: one that lives
// as long as its descriptor. Without IFF_VNET_HDR the kernel cuts what TCP sends
// into packets of no more than the MTU before it gives them.
func openDevice(name string) (fd, index int, err error) {
	fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, 0, os.NewSyscallError("open /dev/net/tun", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, 0, fmt.Errorf("make TUN device: %w", err)
	}
	if _, err := fmt.Sscanf(request.Name(), name, &index); err != nil {
		_ = unix.Close(fd)
		return -1, 0, fmt.Errorf("make TUN device: it is called %s", request.Name())
	}
	return fd, index, nil
}

// configure gives a device of the calling thread's namespace its address and that
// of the other end, and raises it.
func configure(name string, own, other netip.Addr) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find device %s: %w", name, err)
	}
	host := net.CIDRMask(32, 32)
	address := &netlink.Addr{
		IPNet: &net.IPNet{IP: own.AsSlice(), Mask: host},
		Peer:  &net.IPNet{IP: other.AsSlice(), Mask: host},
	}
	if err := netlink.AddrAdd(l, address); err != nil {
		return fmt.Errorf("give device %s the address %s: %w", name, own, err)
	}
	if err := netlink.LinkSetMTU(l, link.Packet); err != nil {
		return fmt.Errorf("set MTU of device %s: %w", name, err)
	}
	if err := netlink.LinkSetTxQLen(l, deviceQueue); err != nil {
		return fmt.Errorf("set queue of device %s: %w", name, err)
	}
	return raise(name)
}

// raise sets a device of the calling thread's namespace up.
func raise(name string) error {
	l, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetUp(l)
	}
	if err != nil {
		return fmt.Errorf("raise device %s: %w", name, err)
	}
	return nil
}

// transfer reads from or writes to a device. It does not tell Go's scheduler: a
// descriptor that does not block returns at once.
func transfer(call uintptr, fd int, b []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}
