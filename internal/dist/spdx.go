package main

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// spdx is a document of SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/), as far as it is used
// here.
type spdx struct {
	Version       string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      spdxCreation   `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []spdxRelation `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID        string          `json:"SPDXID"`
	Name      string          `json:"name"`
	Version   string          `json:"versionInfo"`
	Location  string          `json:"downloadLocation"`
	Analyzed  bool            `json:"filesAnalyzed"`
	License   string          `json:"licenseDeclared"`
	Concluded string          `json:"licenseConcluded"`
	Copyright string          `json:"copyrightText"`
	Purpose   string          `json:"primaryPackagePurpose"`
	Checksums []spdxChecksum  `json:"checksums,omitempty"`
	Refs      []spdxReference `json:"externalRefs,omitempty"`
	Comment   string          `json:"comment,omitempty"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxReference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const noAssertion = "NOASSERTION"

// spdx lists the program and what is linked into it: the modules that the linker has recorded, and
// Go's library.
func (r *release) spdx() *spdx {
	sum := fmt.Sprintf("%x", sha256.Sum256(r.program.data))
	program := newSPDXPackage("gagg", r.info.Main.Path, "v"+r.version)
	program.License, program.Purpose = "Apache-2.0", "APPLICATION"
	program.Checksums = []spdxChecksum{{"SHA256", sum}}
	library := newSPDXPackage("go", "stdlib", strings.TrimPrefix(r.info.GoVersion, "go"))
	library.License = "BSD-3-Clause"
	d := &spdx{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: r.name(),
		Namespace: "https://" + r.info.Main.Path + "/spdx/" + r.name() + "-" + sum[:16],
		Creation:  spdxCreation{r.when.Format(time.RFC3339), []string{"Tool: " + r.info.Main.Path + "/internal/dist"}},
		Packages:  []spdxPackage{program, library},
		Relationships: []spdxRelation{
			{"SPDXRef-DOCUMENT", "DESCRIBES", program.ID},
			{program.ID, "CONTAINS", library.ID},
		},
	}
	for _, m := range r.info.Deps {
		used := m
		if m.Replace != nil {
			used = m.Replace
		}
		p := moduleOf(used)
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, spdxRelation{program.ID, "CONTAINS", p.ID})
	}
	return d
}

// moduleOf is a module that was linked. What go.sum has of it is no checksum of a file, so it is a
// comment.
func moduleOf(m *debug.Module) spdxPackage {
	p := newSPDXPackage("module-"+m.Path+"-"+m.Version, m.Path, m.Version)
	p.Location = "https://proxy.golang.org/" + escapedModule(m.Path) + "/@v/" + escapedModule(m.Version) + ".zip"
	p.Comment = "go.sum: " + m.Sum
	return p
}

func newSPDXPackage(id, name, version string) spdxPackage {
	return spdxPackage{
		ID: "SPDXRef-" + notInID.ReplaceAllString(id, "-"), Name: name, Version: version, Location: noAssertion,
		License: noAssertion, Concluded: noAssertion, Copyright: noAssertion, Purpose: "LIBRARY",
		Refs: []spdxReference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(name) + "@" + version}},
	}
}

// notInID is what an identifier of SPDX may not have.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// escapedModule is a path as module proxies have it: !a for A.
func escapedModule(path string) string {
	return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(path, func(c string) string { return "!" + strings.ToLower(c) })
}
