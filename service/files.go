package service

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Files are those of TLS, in PEM. Without a certificate there is no TLS.
type Files struct {
	Cert, Key string
	ClientCA  string // that callers' certificates must be signed by; "": callers need none
}

func (f Files) config(log *slog.Logger) (*tls.Config, error) {
	if f.Cert == "" {
		return nil, nil
	}
	own := &certificate{Files: f, log: log, every: time.Minute}
	if err := own.load(); err != nil {
		return nil, err
	}
	c := &tls.Config{GetCertificate: own.get, MinVersion: tls.VersionTLS12}
	if f.ClientCA == "" {
		return c, nil
	}
	text, err := os.ReadFile(f.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("load authority of callers: %w", err)
	}
	c.ClientCAs = x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("load authority of callers: %s holds no certificate in PEM", f.ClientCA)
	}
	c.ClientAuth = tls.RequireAndVerifyClientCert
	return c, nil
}

// certificate is the server's own. It is read again where its file has changed:
// certificates are renewed more often than services are started.
type certificate struct {
	Files
	log   *slog.Logger
	every time.Duration // between two looks at the file

	mu      sync.Mutex
	current *tls.Certificate
	written time.Time // the file, when current was read
	looked  time.Time
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < c.every {
		return c.current, nil
	}
	c.looked = time.Now()
	file, err := os.Stat(c.Cert)
	if err == nil && file.ModTime().Equal(c.written) {
		return c.current, nil
	}
	if err == nil {
		err = c.read()
	}
	if err != nil { // what there is may be good for a while
		c.log.Warn("certificate has changed and cannot be read; the old one stays", "error", err)
	}
	return c.current, nil
}

func (c *certificate) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *certificate) read() error {
	file, missing := os.Stat(c.Cert) // first: what is written meanwhile is then read the next time
	read, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err = cmp.Or(err, missing); err != nil {
		return fmt.Errorf("load certificate %s with key %s: %w", c.Cert, c.Key, err)
	}
	c.current, c.written, c.looked = &read, file.ModTime(), time.Now()
	return nil
}
