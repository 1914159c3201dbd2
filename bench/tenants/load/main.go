// The load of the benchmark of tenants. Like that of the server it is not written in TypeScript, because it shares the machine
// with what it measures. Each command prints one line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

var commands = map[string]func(arguments []string) (any, error){
	"create": create,
	"get":    get,
	"watch":  watch,
	"write":  write,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: load create|get|watch|write [flags]")
		os.Exit(2)
	}
	result, err := commands[os.Args[1]](os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	say(result)
}

func say(result any) {
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
