package schema

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Compile compiles .proto files, and all those below folders. Imports are
// looked for below the folders of imports; with none, where each file's package
// says that its imports begin. Those that come with protobuf, and that the
// program was built with, need not be there.
func Compile(ctx context.Context, paths, imports []string) (*Schema, error) {
	files, err := sources(paths)
	if err != nil {
		return nil, err
	}
	roots := slices.Clone(imports)
	var names []string
	for _, f := range files {
		root, err := f.root(imports)
		if err != nil {
			return nil, err
		}
		name, err := below(root, f.path)
		if err != nil {
			return nil, fmt.Errorf("compile schema: %w", err)
		}
		names = append(names, filepath.ToSlash(name))
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: roots},
			protocompile.WithStandardImports(protocompile.ResolverFunc(linkedIn)),
		},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	registry := new(protoresolve.Registry)
	for _, f := range compiled {
		if err := register(registry, f); err != nil {
			return nil, fmt.Errorf("compile schema: %w", err)
		}
	}
	return newSchema("--proto "+strings.Join(paths, " "), registry), nil
}

// linkedIn finds files that the program was built with.
func linkedIn(path string) (protocompile.SearchResult, error) {
	f, err := protoregistry.GlobalFiles.FindFileByPath(path)
	return protocompile.SearchResult{Desc: f}, err
}

// register adds a file and, before it, what it imports.
func register(registry *protoresolve.Registry, f protoreflect.FileDescriptor) error {
	if _, err := registry.FindFileByPath(f.Path()); err == nil {
		return nil
	}
	for i := range f.Imports().Len() {
		if err := register(registry, f.Imports().Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return registry.RegisterFile(f)
}

// source is a .proto file that was named, or is below a folder that was.
type source struct{ path, dir string }

func sources(paths []string) (all []source, err error) {
	for _, path := range paths {
		before, dir := len(all), path
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			dir = filepath.Dir(path)
		}
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (p == path || filepath.Ext(p) == ".proto") {
				all = append(all, source{filepath.Clean(p), filepath.Clean(dir)})
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read schema: %w", err)
		}
		if len(all) == before {
			return nil, fmt.Errorf("read schema: no .proto file below %s", path)
		}
	}
	return all, nil
}

var packageLine = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;`)

// root gives the folder that the file's name and imports are relative to: the
// one of imports that it is below or, where there are none, its own without the
// folders that its package names.
func (s source) root(imports []string) (string, error) {
	for _, root := range imports {
		if name, err := below(root, s.path); err == nil && filepath.IsLocal(name) {
			return root, nil
		}
	}
	if len(imports) > 0 {
		return "", fmt.Errorf("compile schema: %s is below none of the folders of -I", s.path)
	}
	text, err := os.ReadFile(s.path)
	if err != nil {
		return "", fmt.Errorf("read schema: %w", err)
	}
	m := packageLine.FindSubmatch(text)
	if m == nil {
		return s.dir, nil
	}
	packages := filepath.FromSlash(strings.ReplaceAll(string(m[1]), ".", "/"))
	root, ok := strings.CutSuffix(string(filepath.Separator)+filepath.Dir(s.path), string(filepath.Separator)+packages)
	if !ok {
		return s.dir, nil
	}
	return filepath.Clean(strings.TrimPrefix(root, string(filepath.Separator))), nil
}

// below gives a path relative to a folder.
func below(dir, path string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	return filepath.Rel(dir, path)
}

// Descriptors reads files that each hold a FileDescriptorSet, as protoc -o and
// buf build -o write them. Imports that they leave out are taken from the
// program's own.
func Descriptors(paths []string) (*Schema, error) {
	registry := new(protoresolve.Registry)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read descriptors: %w", err)
		}
		var set descriptorpb.FileDescriptorSet
		if err := proto.Unmarshal(b, &set); err != nil || len(set.File) == 0 {
			return nil, fmt.Errorf("read descriptors: %s holds no FileDescriptorSet, as protoc -o and buf build -o write them", path)
		}
		for _, f := range set.File {
			if _, err := registry.FindFileByPath(f.GetName()); err == nil {
				continue
			}
			built, err := protodesc.NewFile(f, protoresolve.Combine(registry, protoresolve.GlobalDescriptors))
			if err != nil {
				return nil, fmt.Errorf("read descriptors: %s: %w", path, err)
			}
			if err := registry.RegisterFile(built); err != nil {
				return nil, fmt.Errorf("read descriptors: %s: %w", path, err)
			}
		}
	}
	return newSchema("--descriptor "+strings.Join(paths, " "), registry), nil
}
