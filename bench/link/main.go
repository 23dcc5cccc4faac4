// Command link measures kernel launches and copies between host and device.
package main

func main() {}
