package schema

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
)

// Parse reads the settings and compiles every schema:
//
//	{"topics": [{"match": "agent/sensory/*/parsed", "encoding": "json", "schema": {...}}]}
//
// The encoding is json, msgpack or protobuf. Anything unknown, in the settings or in a schema, is an error that names it.
func Parse(config []byte) (*Detector, error) {
	d := &Detector{}
	if len(strings.TrimSpace(string(config))) == 0 {
		return d, nil
	}
	t, err := tree.JSON(string(config), tree.Limits{})
	if err != nil {
		return nil, fmt.Errorf("the settings are not JSON: %w", err)
	}
	if err := object(t, 0, "settings", "topics"); err != nil {
		return nil, err
	}
	list := t.Child(0, "topics")
	if list == tree.None {
		return d, nil
	}
	if t.Nodes[list].Kind != tree.Array {
		return nil, fmt.Errorf("topics must be a list")
	}
	for i := t.Nodes[list].First; i != tree.None; i = t.Nodes[i].Next {
		decl, err := parseTopic(t, i)
		if err != nil {
			return nil, fmt.Errorf("settings%s: %w", t.Path(i), err)
		}
		d.topics = append(d.topics, decl)
	}
	return d, nil
}

// object checks that node i is an object with none but the known members, each once.
func object(t *tree.Tree, i int, what string, known ...string) error {
	if t.Nodes[i].Kind != tree.Object {
		return fmt.Errorf("%s must be an object, not %s", what, t.Nodes[i].Kind)
	}
	for c := t.Nodes[i].First; c != tree.None; c = t.Nodes[c].Next {
		ok := false
		for _, k := range known {
			ok = ok || k == t.Nodes[c].Key
		}
		if !ok {
			return fmt.Errorf("unknown key %q in %s; known are %s", t.Nodes[c].Key, what, strings.Join(known, ", "))
		}
		if t.Nodes[c].Repeated {
			return fmt.Errorf("key %q stands twice in %s", t.Nodes[c].Key, what)
		}
	}
	return nil
}

// text returns a string member; required ones must be there and not empty.
func text(t *tree.Tree, i int, key string, required bool) (string, error) {
	c := t.Child(i, key)
	if c == tree.None && !required {
		return "", nil
	}
	if c == tree.None || t.Nodes[c].Kind != tree.String || t.Nodes[c].Text == "" {
		return "", fmt.Errorf("%s must be a text", key)
	}
	return t.Nodes[c].Text, nil
}

func parseTopic(t *tree.Tree, i int) (topic, error) {
	if err := object(t, i, "a topic", "match", "encoding", "schema"); err != nil {
		return topic{}, err
	}
	match, err := text(t, i, "match", true)
	if err != nil {
		return topic{}, err
	}
	encoding, err := text(t, i, "encoding", true)
	if err != nil {
		return topic{}, err
	}
	schema := t.Child(i, "schema")
	if schema == tree.None {
		return topic{}, fmt.Errorf("schema is missing")
	}
	switch encoding {
	case "json":
		s, err := compile(t, schema, false)
		return topic{match, documentChecker{tree.JSON, "JSON", s}}, err
	case "msgpack":
		s, err := compile(t, schema, true)
		return topic{match, documentChecker{tree.MessagePack, "MessagePack", s}}, err
	case "protobuf":
		c, err := parseProtobuf(t, schema)
		return topic{match, c}, err
	}
	return topic{}, fmt.Errorf("encoding %q is unknown; use json, msgpack or protobuf", encoding)
}

// parseProtobuf reads {"message", "descriptors" | "messages", "unknown_fields", "unknown_enums"}.
func parseProtobuf(t *tree.Tree, i int) (checker, error) {
	if err := object(t, i, "a protobuf schema", "message", "descriptors", "messages", "enums", "unknown_fields", "unknown_enums"); err != nil {
		return nil, err
	}
	name, err := text(t, i, "message", true)
	if err != nil {
		return nil, err
	}
	types := newTypes()
	if types.allowFields, err = allows(t, i, "unknown_fields"); err != nil {
		return nil, err
	}
	if types.allowEnums, err = allows(t, i, "unknown_enums"); err != nil {
		return nil, err
	}
	if err := loadTypes(types, t, i); err != nil {
		return nil, err
	}
	if err := types.link(); err != nil {
		return nil, err
	}
	root := types.messages[strings.TrimPrefix(name, ".")]
	if root == nil {
		return nil, fmt.Errorf("message %q is not among the descriptors", name)
	}
	return protoChecker{types, root}, nil
}

func loadTypes(types *types, t *tree.Tree, i int) error {
	set, err := text(t, i, "descriptors", false)
	if err != nil {
		return err
	}
	table := t.Child(i, "messages")
	if (set == "") == (table == tree.None) {
		return fmt.Errorf("a protobuf schema needs either descriptors (a FileDescriptorSet in base64) or messages (a table of fields)")
	}
	if set == "" {
		return types.fromTable(t, i, table)
	}
	raw, err := base64.StdEncoding.DecodeString(set)
	if err != nil {
		return fmt.Errorf("descriptors is not base64: %w", err)
	}
	return types.fromDescriptorSet(raw)
}

// allows reads "allow" or "deny"; absent means deny.
func allows(t *tree.Tree, i int, key string) (bool, error) {
	v, err := text(t, i, key, false)
	if err != nil || v != "" && v != "allow" && v != "deny" {
		return false, fmt.Errorf("%s must be allow or deny", key)
	}
	return v == "allow", nil
}
