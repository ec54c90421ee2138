package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestACertificateThatWasRenewedIsTaken, and one that is broken is not.
func TestACertificateThatWasRenewedIsTaken(t *testing.T) {
	dir := t.TempDir()
	c := &certificate{
		Files: Files{Cert: filepath.Join(dir, "a.pem"), Key: filepath.Join(dir, "a.key")},
		log:   slog.New(slog.DiscardHandler),
	}
	renew(t, c.Files, 1)
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	wantSerial(t, c, 1)
	renew(t, c.Files, 2)
	wantSerial(t, c, 2)
	if err := os.WriteFile(c.Cert, []byte("half of a"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch(t, c.Cert, 3)
	wantSerial(t, c, 2)
	renew(t, c.Files, 4)
	wantSerial(t, c, 4)
	c.every = time.Hour
	renew(t, c.Files, 5)
	wantSerial(t, c, 4) // until it looks again
}

func wantSerial(t *testing.T, c *certificate, want int64) {
	t.Helper()
	got, err := c.get(nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Leaf.SerialNumber.Int64(); n != want {
		t.Errorf("the certificate is number %d, want %d", n, want)
	}
}

// renew writes certificate number n, and says that it did so n seconds from now:
// some file systems know no finer times.
func renew(t *testing.T, f Files, n int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(n), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		f.Cert: {Type: "CERTIFICATE", Bytes: cert}, f.Key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	touch(t, f.Cert, n)
}

func touch(t *testing.T, path string, n int64) {
	t.Helper()
	at := time.Now().Add(time.Duration(n) * time.Second)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}
