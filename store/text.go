package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// CheckText says with ErrInvalid which of texts no database keeps: what is not
// UTF-8, or holds a NUL.
func CheckText(texts ...string) error {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return fmt.Errorf("%.100q is not UTF-8: %w", t, ErrInvalid)
		}
		if strings.IndexByte(t, 0) >= 0 {
			return fmt.Errorf("%.100q holds a NUL: %w", t, ErrInvalid)
		}
	}
	return nil
}

// CheckText is of all that o says.
func (o *Order) CheckText() error {
	if err := CheckText(o.ID, o.User, o.Total.Currency); err != nil {
		return err
	}
	for i := range o.Lines {
		if err := CheckText(o.Lines[i].SKU, o.Lines[i].Title); err != nil {
			return err
		}
	}
	return nil
}

// CheckText is of what of v is text.
func (v *Visit) CheckText() error {
	if err := CheckText(v.ID, v.Patient, v.SignedBy); err != nil {
		return err
	}
	return CheckText(v.Procedures...)
}

// lineJSON is an order's line as databases keep it.
type lineJSON struct {
	SKU            string `json:"sku"`
	Title          string `json:"title"`
	Quantity       int32  `json:"quantity"`
	UnitPriceMinor int64  `json:"unit_price_minor"`
}

// FormatLines gives an order's lines as JSON, for databases that keep them as
// one text. Equal lines have equal texts.
func FormatLines(lines []OrderLine) (string, error) {
	all := make([]lineJSON, len(lines))
	for i, l := range lines {
		all[i] = lineJSON(l)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		return "", fmt.Errorf("format lines: %w", err)
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// ParseLines reads what FormatLines gave.
func ParseLines(text string) ([]OrderLine, error) {
	var all []lineJSON
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("parse lines: %w", err)
	}
	lines := make([]OrderLine, len(all))
	for i, l := range all {
		lines[i] = OrderLine(l)
	}
	return lines, nil
}

// FormatNames gives names as JSON, as FormatLines does with lines.
func FormatNames(names []string) (string, error) {
	if len(names) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(names)
	if err != nil {
		return "", fmt.Errorf("format names: %w", err)
	}
	return string(text), nil
}

// ParseNames reads what FormatNames gave.
func ParseNames(text string) (names []string, err error) {
	if err := json.Unmarshal([]byte(text), &names); err != nil {
		return nil, fmt.Errorf("parse names: %w", err)
	}
	return names, nil
}

// NameApart gives, of a name that may hold anything, one of letters, digits,
// '_' and '-' that files and schemas may bear and that another name does not
// give. It is at most 63 bytes long, as PostgreSQL's names.
func NameApart(name string) string {
	const longest, hashed = 63, 9
	safe := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a' // not all file systems part them
		}
		return '-'
	}, name)
	if safe == name && name != "" && len(name) <= longest {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("%.*s-%08x", longest-hashed, safe, h.Sum32())
}

var secret = regexp.MustCompile(`(?i)\b((?:ssl)?password=)[^&\s]*`)

// Redact gives an address without the passwords in it, for people and files.
func Redact(address string) string {
	address = secret.ReplaceAllString(address, "${1}xxxxx")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	if u, err := url.Parse(address); err == nil {
		return redactParsed(address, u)
	}
	// What does not parse may hold one as well: a password with a / or a #.
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return address
	}
	user, _, _ := strings.Cut(rest[:at], ":")
	return scheme + "://" + user + ":xxxxx" + rest[at:]
}

func redactParsed(address string, u *url.URL) string {
	if _, has := u.User.Password(); !has {
		return address // as it was written
	}
	return u.Redacted()
}
