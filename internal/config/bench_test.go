package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/config"
)

// Every hook and command loads the settings before it does anything.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	documented := filepath.Join(dir, "recalld.yaml")
	if err := os.WriteFile(documented, configs.YAML, 0o600); err != nil {
		b.Fatal(err)
	}
	for name, file := range map[string]string{"none": "", "documented": documented} {
		b.Run(name, func(b *testing.B) {
			env := map[string]string{"HOME": filepath.Join(dir, "home"), "RECALLD_CONFIG": file}
			for b.Loop() {
				if _, err := config.Load(config.Sources{Data: dir, Getenv: func(n string) string { return env[n] }}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
