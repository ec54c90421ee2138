package main

import (
	"os"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/internal/cli"
	"github.com/tare-bench/tare/internal/program"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if program.Asked() {
		os.Exit(cli.Main(os.Args[1:], catalog.Default(), cli.Process()))
	}
	os.Exit(postgrestest.Main(m))
}

// Whatever is killed, nothing is lost and nothing is paid twice.
func TestCrash(t *testing.T) {
	t.Run("services on SQLite", func(t *testing.T) { crash(t, "sqlite", 6) })
	t.Run("services on PostgreSQL", func(t *testing.T) { crash(t, postgrestest.Address(t), 4) })
}

func crash(t *testing.T, store string, kills int) {
	t.Parallel() // most of it is waiting until orders are old enough to be settled
	p := plan{kills: kills, every: 40, clients: 8, seed: 1, store: store, log: t.Logf}
	o, err := p.run(t.Context(), catalog.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", o)
	if !o.sound() {
		t.Error("something is wrong, as it says")
	}
	for _, v := range o.victims {
		if v.kills == 0 {
			t.Errorf("the %s was never killed", v.name)
		}
	}
	if o.verdict.acknowledged < kills*p.every/2 || o.verdict.refused == 0 || o.verdict.asked == 0 || o.verdict.found == 0 {
		t.Error("too little happened to tell")
	}
}

// Wherever an import is cut off, each statement is there once at the end.
func TestImportOutlivesItsService(t *testing.T) {
	t.Run("on SQLite", func(t *testing.T) { crashImport(t, "sqlite") })
	t.Run("on PostgreSQL", func(t *testing.T) { crashImport(t, postgrestest.Address(t)) })
}

func crashImport(t *testing.T, store string) {
	t.Parallel()
	p := imports{plan{kills: 4, seed: 1, store: store, log: t.Logf}, 5_000, 100}
	o, err := p.run(t.Context(), catalog.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", o)
	if !o.sound() {
		t.Error("something is wrong, as it says")
	}
	if o.cut == 0 {
		t.Error("no call was cut off")
	}
}
