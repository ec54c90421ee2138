package service

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Files are those of TLS, in PEM. Without a certificate there is no TLS.
type Files struct {
	Cert, Key string
	ClientCA  string // that callers' certificates must be signed by; "": callers need none
}

func (f Files) config() (*tls.Config, error) {
	if f.Cert == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("load certificate %s with key %s: %w", f.Cert, f.Key, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
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
