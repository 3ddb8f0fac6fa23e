// Checks the delegation recipe in Go: opens the published vectors, and calls a running service.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"time"
)

type pair struct {
	Signing, Encryption struct{ Private, Public string }
}

type vectors struct {
	Keys     struct{ BackEnd, Service pair }
	Expected struct {
		ClientID string `json:"clientId"`
		Audience string
		Now      int64
	}
	Request   struct{ Jti string }
	Requests  []struct{ Text string }
	Response  struct{ Body map[string]any }
	Responses []struct {
		Name, Text, Error string
		Valid             bool
	}
}

func main() {
	log.SetFlags(0)
	text, err := os.ReadFile(os.Getenv("VECTORS"))
	check(err)
	var all vectors
	check(json.Unmarshal(text, &all))
	own, theirs := all.Keys.BackEnd, all.Keys.Service
	keys := Keys{own.Signing.Private, own.Encryption.Private, theirs.Signing.Public, theirs.Encryption.Public}
	envelope, err := NewEnvelope(keys)
	check(err)
	expected, sent := all.Expected, all.Requests[0].Text
	for _, one := range all.Responses {
		now := time.Unix(expected.Now, 0)
		_, body, err := envelope.Open(expected.ClientID, expected.Audience, sent, all.Request.Jti, one.Text, now)
		var found map[string]any
		_ = json.Unmarshal(body, &found)
		if one.Valid && !reflect.DeepEqual(found, all.Response.Body) || !one.Valid && codeOf(err) != one.Error {
			log.Fatalf("%s: %v %v", one.Name, found, err)
		}
	}

	env := os.Getenv
	delegation, err := NewDelegation(env("LATCHKEY_BASE_URL"), env("LATCHKEY_SP_ID"), env("LATCHKEY_API_KEY"), Keys{
		env("SP_ED25519_PRIVATE_KEY_PEM"), env("SP_X25519_PRIVATE_KEY_PEM"),
		env("IDP_ED25519_PUBLIC_KEY_PEM"), env("IDP_X25519_PUBLIC_KEY_PEM"),
	})
	check(err)
	ctx := context.Background()
	_, err = delegation.Call(ctx, "getUserCredentials", map[string]string{"userid": env("USERID")})
	check(err)
	_, err = delegation.Call(ctx, "getUserCredentials", map[string]string{"userid": "nobody@example.com"})
	if codeOf(err) != "USER_NOT_FOUND" {
		log.Fatal("unknown user: ", err)
	}
	fmt.Printf("%d vectors, a call, a refusal\n", len(all.Responses))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func codeOf(err error) string {
	var found *DelegationError
	if errors.As(err, &found) {
		return found.Code
	}
	return ""
}
