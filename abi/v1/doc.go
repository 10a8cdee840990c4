// Package v1 is version 1 of the contract between the host and a plugin, generated from the .proto files in this folder: one
// struct per message, one int32 type per enum, and two codecs for each, protobuf and the canonical JSON mapping of proto3.
//
// Decoding protobuf is lenient (UnmarshalProto ignores fields it does not know, which is how the contract grows) and does not copy:
// bytes fields point into the input. CheckStrict functions are the opposite: they accept an answer only if every byte of it is
// understood. Decoding JSON is always strict about syntax, unknown and duplicate keys; the CheckStrict...JSON functions also insist on
// required fields and known enum values.
//
// Messages are plain data. A nil message encodes as an empty one; Validate says whether a message in memory is fit to be sent.
// Nothing here uses reflection or package fmt, so that a guest stays small.
package v1

//go:generate go run github.com/amygdala-host/amygdala/abi/internal/gen -root ../..
//go:generate go run github.com/amygdala-host/amygdala/abi/internal/gen/doc -root ../..
