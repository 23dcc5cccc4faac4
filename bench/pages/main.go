// Command pages measures the page managers of gpumem.
package main

func main() {}
