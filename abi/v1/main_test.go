package v1_test

import (
	"context"
	"flag"
)

// testContext is for compiling the .proto files, which needs one and never waits.
var testContext = context.Background()

var update = flag.Bool("update", false, "write the golden vectors instead of checking them")
