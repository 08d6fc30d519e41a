package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// versionMark stands in the templates below deploy for the version.
const versionMark = "@VERSION@"

// pack makes what carries the program to clients, from the archives: the packages of npm
// in the folder npm, to be published by npm publish, and a bundle for each platform.
func (r release) pack() error {
	launcher := map[string]string{}
	for _, t := range r.targets {
		program, err := readProgram(filepath.Join(r.out, r.archive(t)), t)
		if err != nil {
			return err
		}
		name, err := r.npmProgram(t, program)
		if err != nil {
			return fmt.Errorf("npm package for %s/%s: %w", t.os, t.arch, err)
		}
		launcher[name] = r.number()
		if err := r.bundle(t, program); err != nil {
			return fmt.Errorf("bundle for %s/%s: %w", t.os, t.arch, err)
		}
	}
	return r.npmLauncher(launcher)
}

// nodeNames are Node's names of systems and processors, where they are not Go's.
var nodeNames = map[string]string{"windows": "win32", "amd64": "x64"}

func nodeName(name string) string {
	if other := nodeNames[name]; other != "" {
		return other
	}
	return name
}

// npmProgram writes the package that has the program for one platform. npm installs only
// the one that fits the machine.
func (r release) npmProgram(t target, program []byte) (string, error) {
	system, arch := nodeName(t.os), nodeName(t.arch)
	name := "@recalld/" + system + "-" + arch
	manifest, err := json.MarshalIndent(map[string]any{
		"name": name, "version": r.number(), "license": "Apache-2.0",
		"description": "The program recalld for " + system + " on " + arch + "; install the package recalld",
		"repository":  map[string]string{"type": "git", "url": "git+https://github.com/recalld/recalld.git"},
		"os":          []string{system}, "cpu": []string{arch}, "files": []string{"bin"},
		"preferUnplugged": true,
	}, "", "  ")
	if err != nil {
		return "", err
	}
	return name, writeAll(filepath.Join(r.out, "npm", system+"-"+arch), []entry{
		{"package.json", 0o644, append(manifest, '\n')},
		{"bin/" + t.program(), 0o755, program},
	})
}

// npmLauncher writes the package that people install: a script that starts the program.
func (r release) npmLauncher(programs map[string]string) error {
	text, err := r.template("deploy/npm/package.json")
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("deploy/npm/package.json: %w", err)
	}
	manifest["optionalDependencies"] = programs
	if text, err = json.MarshalIndent(manifest, "", "  "); err != nil {
		return err
	}
	entries := []entry{{"package.json", 0o644, append(text, '\n')}}
	for _, name := range []string{"recalld.js", "README.md"} {
		if text, err = os.ReadFile(filepath.Join("deploy/npm", name)); err != nil {
			return err
		}
		entries = append(entries, entry{name, 0o755, text})
	}
	return writeAll(filepath.Join(r.out, "npm", "recalld"), entries)
}

// bundle writes the program with a manifest as an .mcpb file, for desktop programs.
func (r release) bundle(t target, program []byte) error {
	text, err := r.template("deploy/mcpb/manifest.json")
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("deploy/mcpb/manifest.json: %w", err)
	}
	file := "server/" + t.program()
	manifest["server"] = map[string]any{"type": "binary", "entry_point": file,
		"mcp_config": map[string]any{"command": "${__dirname}/" + file, "args": []string{"mcp"}, "env": map[string]string{}}}
	manifest["compatibility"] = map[string]any{"platforms": []string{nodeName(t.os)}}
	if text, err = json.MarshalIndent(manifest, "", "  "); err != nil {
		return err
	}
	return writeZip(filepath.Join(r.out, fmt.Sprintf("recalld_%s_%s_%s.mcpb", r.number(), t.os, t.arch)),
		[]entry{{"manifest.json", 0o644, append(text, '\n')}, {file, 0o755, program}})
}

// template reads a file and puts the version into it.
func (r release) template(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(text, []byte(versionMark)) {
		return nil, fmt.Errorf("%s has no %s", name, versionMark)
	}
	return bytes.ReplaceAll(text, []byte(versionMark), []byte(r.number())), nil
}

// writeAll writes entries as files below a folder.
func writeAll(dir string, entries []entry) error {
	for _, e := range entries {
		path := filepath.Join(dir, filepath.FromSlash(e.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, e.text, fs.FileMode(e.mode)); err != nil {
			return err
		}
	}
	return nil
}
