// Checks a Grafana dashboard on standard input, by the types that Grafana generates from its own schemas.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	// Without these, the options of panels and queries are not checked.
	plugins.RegisterDefaultPlugins()
	var checked dashboard.Dashboard
	fail(checked.UnmarshalJSONStrict(text))
	fail(checked.Validate())
}

// fail ends the program, unless the error is one of the empty lists that the SDK returns for success.
func fail(err error) {
	if err != nil && err.Error() != "" {
		fmt.Println(err)
		os.Exit(1)
	}
}
