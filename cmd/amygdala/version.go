package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/amygdala-host/amygdala/abi"
)

// buildInfo is what `version` prints and /healthz repeats.
type buildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	ABI     int    `json:"abi"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{Version: "devel", ABI: abi.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}

func newVersion(io stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version, the ABI it speaks and how it was built", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuildInfo()
			if asJSON {
				return json.NewEncoder(io.out).Encode(b)
			}
			_, err := fmt.Fprintf(io.out, "amygdala %s (abi %d, %s, %s/%s)\n", b.Version, b.ABI, b.Go, b.OS, b.Arch)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
