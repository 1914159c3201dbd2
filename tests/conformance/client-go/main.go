// Command client-go shows that a Kubernetes API server serves the real client-go and controller-runtime.
//
// It prints a line per check as it ends, `ok name` or `FAIL name: why`, and exits with 1 if one failed. Each check works
// in a namespace of its own, so they run side by side; nothing is cleaned up, the server is meant to be thrown away.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	// Not flag.CommandLine: controller-runtime has put flags of its own there.
	flags := flag.NewFlagSet("client-go", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "file with an administrator's credentials")
	only := flags.String("only", "", "run the checks whose name contains this")
	list := flags.Bool("list", false, "print the names of the checks and exit")
	parallel := flags.Int("parallel", 6, "how many checks run at once")
	timeout := flags.Duration("timeout", 45*time.Second, "how long one check may take")
	verbose := flags.Bool("verbose", false, "print what the client libraries log")
	_ = flags.Parse(os.Args[1:]) // Exits by itself.
	if !*verbose {
		silenceLibraries()
	}

	selected := selectChecks(*only)
	if len(selected) == 0 {
		fmt.Fprintf(os.Stderr, "no check's name contains %q\n", *only)
		os.Exit(2)
	}
	if *list {
		for _, one := range selected {
			fmt.Println(one.name)
		}
		return
	}
	config, err := loadConfig(*kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if failed := runChecks(context.Background(), config, selected, *parallel, *timeout); failed > 0 {
		os.Exit(1)
	}
}

func selectChecks(only string) []check {
	var selected []check
	for _, one := range checks {
		if strings.Contains(one.name, only) {
			selected = append(selected, one)
		}
	}
	return selected
}

// silenceLibraries: conflicts and cut connections are what the checks are about; the libraries would report each.
func silenceLibraries() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	log.SetOutput(io.Discard)
}
