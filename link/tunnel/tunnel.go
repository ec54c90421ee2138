// Package tunnel is a link that carries packets: the far side is a network
// namespace of its own, a TUN device stands at each end, and a thread of this
// process takes packets from one to the other. So both ends are the kernel's real
// TCP: its handshake, slow start and retransmission meet the link.
//
// The namespace has no name and the devices do not persist: both vanish with the
// process, however it ends. The design is that of mahimahi (Netravali et al.,
// Mahimahi: Accurate Record-and-Replay for HTTP, USENIX ATC 2015).
package tunnel
