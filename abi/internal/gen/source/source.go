// Package source reads the .proto files of the contract: descriptors, and the comments that carry meaning.
package source

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Load compiles all .proto files in dir and returns them sorted by name.
func Load(dir string) ([]protoreflect.FileDescriptor, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no .proto files in %s", dir)
	}
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	slices.Sort(paths)
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	linked, err := c.Compile(context.Background(), paths...)
	if err != nil {
		return nil, err
	}
	files := make([]protoreflect.FileDescriptor, len(linked))
	for i := range linked {
		files[i] = linked[i]
	}
	return files, nil
}

// Comment returns the comment above a declaration, without slashes. Line breaks are kept.
func Comment(d protoreflect.Descriptor) string {
	return tidy(d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments)
}

// Mark splits the comment behind a field or a oneof into the mark "required" and the rest.
func Mark(d protoreflect.Descriptor) (required bool, note string) {
	note = tidy(d.ParentFile().SourceLocations().ByDescriptor(d).TrailingComments)
	rest, required := strings.CutPrefix(note, "required")
	if required && (rest == "" || rest[0] == ',' || rest[0] == ';') {
		return true, strings.TrimLeft(rest, ",; ")
	}
	return false, note
}

func tidy(comment string) string {
	lines := strings.Split(strings.TrimSpace(comment), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
