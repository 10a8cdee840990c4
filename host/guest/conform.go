package guest

import (
	"context"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// The checks that a host makes of every plugin, one by one, for the conformance suite: it proves a plugin by the same code that will judge it
// in service.

// ReadAnswer decodes an answer in the plugin's encoding and checks all that holds for every op: that each byte of it is understood and
// nothing required is missing, and that an error is of a kind that a plugin may use. Errors are kind protocol.
func ReadAnswer(encoding v1.Encoding, body []byte) (*v1.Response, error) {
	return codec(encoding).read(body)
}

// CheckVerdict checks what the strict check of the encoding cannot: that every finding names a declared threat, a confidence from 0 to 1
// and a range inside a view of the question, and that a question may be asked at all.
func CheckVerdict(m *v1.Manifest, op v1.Op, req *v1.DetectRequest, v *v1.Verdict) error {
	return checkVerdict(m, askingOf(req, op == v1.OpJudge), v)
}

// SameManifest checks that DESCRIBE answered what is packed, digests, signature and grants left out. The error names the first field
// that differs.
func SameManifest(packed, described *v1.Manifest) error { return sameManifest(packed, described) }

// Prove loads a package exactly as a host would, its self-test included, and closes it again. The error begins with the stage that
// failed.
func Prove(ctx context.Context, driver Driver, pkg *Package) error {
	p, err := load(ctx, driver, planOf(pkg, policies.Default().Detector(pkg.Name), Limits{}), func(*Plugin) {})
	if err != nil {
		return err
	}
	return p.module.Close()
}
