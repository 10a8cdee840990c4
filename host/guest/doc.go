// Package guest turns plugin files into running plugins and keeps them running: packages, manifests, generations, hot reload,
// rollback. It is the fat side of the driver seam: encoding, the strict check of answers, budgets and error texts live here, once for
// every binding; a Driver only moves bytes in and out of a sandbox.
//
// # The life of a plugin
//
//	Open       read the file once: module, manifest, assets; check the digests
//	verify     the signature, if the host asks for one
//	grants     does it ask for more than the operator allowed? Then it waits for a person
//	Load       the driver compiles and starts it; then, before the snapshot that every call starts from,
//	             DESCRIBE must equal the manifest, CONFIGURE runs once, and a warm-up lets the guest's heap grow
//	self-test  the package's own examples (asset selftest.jsonl) must come out as they say
//	shadow     optionally it runs beside its predecessor on live traffic and is only compared
//	serving    it is part of the current Set
//	drain      a newer Set has taken over; calls in flight end
//	Close      exactly once, when the last Set that holds it is released
//
// # Generations
//
// A Set is one immutable generation: policy, signatures and plugins, under one number. It is swapped as a whole behind one atomic
// pointer, so a verdict is explained by exactly one number. Whatever fails on the way to a new Set leaves the old parts in place and is
// told in Status and the log.
package guest
