// A program with an unmodified informer of client-go on the ConfigMaps of a control plane. For each line on its input it prints the content
// of the cache as one line of JSON: namespace/name to resourceVersion.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fail(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().ConfigMaps().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		fail(fmt.Errorf("the cache does not sync"))
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		content := map[string]string{}
		for _, item := range informer.GetStore().List() {
			object := item.(*corev1.ConfigMap)
			content[object.Namespace+"/"+object.Name] = object.ResourceVersion
		}
		line, err := json.Marshal(content)
		if err != nil {
			fail(err)
		}
		fmt.Println(string(line))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
