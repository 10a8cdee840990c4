package privilege

import (
	"fmt"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
)

// Config is the operator's settings.
type Config struct {
	// AllowCommands are programs that may raise rights here, such as "sudo" in a build container. What they are used for is no
	// longer judged.
	AllowCommands []string
	// Guarded are further paths whose change is an escalation; a path matches when it contains one of them.
	Guarded []string
}

// ParseConfig reads the settings: {"allow_commands": [...], "guarded_paths": [...]}. Empty means the defaults. An unknown key is an
// error.
func ParseConfig(data []byte) (Config, error) {
	var c Config
	if len(strings.TrimSpace(string(data))) == 0 {
		return c, nil
	}
	t, err := tree.JSON(string(data), tree.Limits{})
	if err != nil {
		return c, fmt.Errorf("the settings are not JSON: %w", err)
	}
	if t.Nodes[0].Kind != tree.Object {
		return c, fmt.Errorf("the settings are a JSON %s; they must be an object", t.Nodes[0].Kind)
	}
	for i := t.Nodes[0].First; i != tree.None; i = t.Nodes[i].Next {
		switch key := t.Nodes[i].Key; key {
		case "allow_commands":
			c.AllowCommands, err = t.Texts(i)
		case "guarded_paths":
			c.Guarded, err = t.Texts(i)
		default:
			err = fmt.Errorf("unknown setting %q; known are allow_commands and guarded_paths", key)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c Config) allowsCommand(name string) bool {
	for _, a := range c.AllowCommands {
		if strings.EqualFold(a, name) {
			return true
		}
	}
	return false
}
