package main

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// zoneFolders are the folders in which systems have time zones, a file for each.
var zoneFolders = []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"}

// usualZones are offered where the system has none. gagg knows the others, too.
var usualZones = []string{
	"UTC", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "America/Bogota", "America/Chicago",
	"America/Denver", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Sao_Paulo", "Asia/Dubai",
	"Asia/Hong_Kong", "Asia/Jakarta", "Asia/Kolkata", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo", "Australia/Sydney",
	"Europe/Berlin", "Europe/Istanbul", "Europe/London", "Europe/Madrid", "Europe/Moscow", "Europe/Paris", "Pacific/Auckland",
}

// zoneNames are the time zones that the system has.
func zoneNames() []string {
	for _, folder := range zoneFolders {
		if names := zonesIn(os.DirFS(folder)); len(names) > 0 {
			return names
		}
	}
	return usualZones
}

// zonesIn returns the names of zones among files: names such as Europe/Berlin, and UTC. Old names
// such as CET, and copies by other rules (posix, right), are left out.
func zonesIn(files fs.FS) (names []string) {
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil, d.IsDir() && slices.Contains([]string{"posix", "right", "SystemV", "Etc"}, path.Base(name)):
			return fs.SkipDir
		case d.IsDir():
		case name == "UTC", strings.Contains(name, "/") && name[0] >= 'A' && name[0] <= 'Z':
			names = append(names, name)
		}
		return nil
	})
	return names
}
