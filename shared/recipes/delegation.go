// Delegation for Go: second factors of users on your own pages, with net/http and golang.org/x/crypto/curve25519.
//
//	delegation, err := NewDelegation(baseURL, clientID, apiKey, keys)
//	result, err := delegation.Call(ctx, "getUserCredentials", map[string]string{"userid": sub})
//
// Operations: server/docs/http-api.md.
package main

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/crypto/curve25519"
)

const (
	lifetime = 60
	leeway   = 30
	maxBytes = 128 * 1024
)

// DelegationError has the service's code, or RESPONSE_REJECTED or STALE if the response must not be trusted.
type DelegationError struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	RetryAfter int    `json:"retry_after"`
}

func (e *DelegationError) Error() string { return e.Code + " " + e.Message }

// Keys are PEM: yours are private, the service's public.
type Keys struct{ Signing, Decryption, Verification, Encryption string }

// Envelope is a JWS (Ed25519) in a JWE (X25519, A256GCM).
type Envelope struct {
	signing      ed25519.PrivateKey
	verification ed25519.PublicKey
	decryption   []byte
	encryption   []byte
}

func NewEnvelope(keys Keys) (*Envelope, error) {
	var raw [4][]byte
	for i, one := range []string{keys.Signing, keys.Decryption, keys.Verification, keys.Encryption} {
		var err error
		if raw[i], err = rawKey(one, i < 2, i%2 == 0); err != nil {
			return nil, err
		}
	}
	return &Envelope{ed25519.NewKeyFromSeed(raw[0]), raw[2], raw[1], raw[3]}, nil
}

// rawKey reads the fixed encodings of RFC 8410: 32 bytes after the algorithm.
func rawKey(text string, private, signs bool) ([]byte, error) {
	block, _ := pem.Decode([]byte(strings.ReplaceAll(text, `\n`, "\n")))
	algorithm := byte(0x6e)
	if signs {
		algorithm = 0x70
	}
	prefix := []byte{0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, algorithm, 0x03, 0x21, 0x00}
	if private {
		prefix = []byte{0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, algorithm, 0x04, 0x22, 0x04, 0x20}
	}
	if block == nil || len(block.Bytes) != len(prefix)+32 || !bytes.HasPrefix(block.Bytes, prefix) {
		return nil, errors.New("not an Ed25519 or X25519 key in PEM, or in the wrong place")
	}
	return block.Bytes[len(prefix):], nil
}

// Seal returns the request as sent, and its jti.
func (e *Envelope) Seal(clientID, audience, op string, body any) (string, string, error) {
	random := make([]byte, 16+12+32)
	if _, err := rand.Read(random); err != nil {
		return "", "", err
	}
	jti, iv, own := encoded(random[:16]), random[16:28], random[28:]
	now := time.Now().Unix()
	kid := thumbprint("X25519", e.encryption)
	header := map[string]any{
		"alg": "EdDSA", "typ": "delegation-req+jwt",
		"kid": thumbprint("Ed25519", e.signing.Public().(ed25519.PublicKey)),
	}
	payload := map[string]any{
		"iss": clientID, "aud": audience, "iat": now, "exp": now + lifetime, "jti": jti,
		"op": op, "enc_kid": kid, "body": body,
	}
	signed := part(header) + "." + part(payload)
	inner := signed + "." + encoded(ed25519.Sign(e.signing, []byte(signed)))
	public, err := curve25519.X25519(own, curve25519.Basepoint)
	if err != nil {
		return "", "", err
	}
	head := part(map[string]any{
		"alg": "ECDH-ES", "enc": "A256GCM", "typ": "delegation-req+jwe", "cty": "JWT", "kid": kid,
		"epk": map[string]string{"kty": "OKP", "crv": "X25519", "x": encoded(public)},
	})
	gcm, err := derived(own, e.encryption)
	if err != nil {
		return "", "", err
	}
	box := gcm.Seal(nil, iv, []byte(inner), []byte(head))
	end := len(box) - gcm.Overhead()
	return strings.Join([]string{head, "", encoded(iv), encoded(box[:end]), encoded(box[end:])}, "."), jti, nil
}

// Open returns the HTTP status and the body of the response to the request that was sent.
func (e *Envelope) Open(clientID, audience, sent, jti, text string, now time.Time) (int, json.RawMessage, error) {
	var answer struct {
		Iss, Aud string
		Jti      *string `json:"req_jti"`
		Hash     string  `json:"req_hash"`
		Iat, Exp *float64
		Status   int
		Body     map[string]any
	}
	rejected := &DelegationError{Code: "RESPONSE_REJECTED"}
	payload, err := e.payload(text)
	if err != nil || json.Unmarshal(payload, &answer) != nil {
		return 0, nil, rejected
	}
	hash := sha256.Sum256([]byte(sent))
	// Without a valid signature, the service has no jti to repeat.
	isOurs := (answer.Jti == nil && answer.Status >= 400) || (answer.Jti != nil && *answer.Jti == jti)
	if !isOurs || answer.Hash != encoded(hash[:]) || answer.Iss != audience || answer.Aud != clientID ||
		answer.Status == 0 || answer.Body == nil || answer.Iat == nil || answer.Exp == nil {
		return 0, nil, rejected
	}
	if at := float64(now.Unix()); *answer.Iat > at+leeway || *answer.Exp <= at-leeway {
		return 0, nil, &DelegationError{Code: "STALE"}
	}
	body, err := json.Marshal(answer.Body)
	return answer.Status, body, err
}

func (e *Envelope) payload(text string) ([]byte, error) {
	var header struct {
		Alg, Enc, Typ, Cty, Kid string
		Epk                     struct{ Kty, Crv, X string }
	}
	parts, data, err := opened(text, 5, &header)
	if err != nil {
		return nil, err
	}
	found := []string{header.Alg, header.Enc, header.Typ, header.Cty, header.Epk.Kty, header.Epk.Crv, parts[1]}
	if strings.Join(found, " ") != "ECDH-ES A256GCM delegation-res+jwe JWT OKP X25519 " {
		return nil, errors.New("unexpected header")
	}
	epk, err := base64.RawURLEncoding.DecodeString(header.Epk.X)
	if err != nil || len(data[2]) != 12 || len(data[4]) != 16 {
		return nil, errors.New("not ECDH-ES with A256GCM")
	}
	gcm, err := derived(e.decryption, epk)
	if err != nil {
		return nil, err
	}
	inner, err := gcm.Open(nil, data[2], append(data[3], data[4]...), []byte(parts[0]))
	if err != nil {
		return nil, err
	}
	var signed struct{ Alg, Typ, Kid string }
	parts, data, err = opened(string(inner), 3, &signed)
	if err != nil {
		return nil, err
	}
	isSigned := ed25519.Verify(e.verification, []byte(parts[0]+"."+parts[1]), data[2])
	if signed.Alg != "EdDSA" || signed.Typ != "delegation-res+jwt" || !isSigned {
		return nil, errors.New("not signed by the service")
	}
	return data[1], nil
}

// opened reads a compact JWE or JWS whose header has no other members than those of header.
func opened(text string, count int, header any) ([]string, [][]byte, error) {
	parts := strings.Split(text, ".")
	data := make([][]byte, len(parts))
	for i, one := range parts {
		decoded, err := base64.RawURLEncoding.Strict().DecodeString(one)
		if err != nil || encoded(decoded) != one {
			return nil, nil, errors.New("not base64url")
		}
		data[i] = decoded
	}
	if len(parts) != count {
		return nil, nil, errors.New("unexpected number of parts")
	}
	decoder := json.NewDecoder(bytes.NewReader(data[0]))
	decoder.DisallowUnknownFields()
	return parts, data, decoder.Decode(header)
}

// Delegation calls the service.
type Delegation struct {
	url, clientID, apiKey, audience string
	envelope                        *Envelope
	client                          *http.Client
}

func NewDelegation(baseURL, clientID, apiKey string, keys Keys) (*Delegation, error) {
	address, err := url.Parse(baseURL)
	if err != nil {
		return nil, err
	}
	if host := address.Hostname(); address.Scheme != "https" && host != "localhost" && host != "127.0.0.1" {
		return nil, errors.New("baseURL must use https")
	}
	envelope, err := NewEnvelope(keys)
	// A redirect could leak the API key.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Timeout: 10 * time.Second, CheckRedirect: stay}
	return &Delegation{strings.TrimRight(baseURL, "/") + "/v1/delegation", clientID, apiKey, "", envelope, client}, err
}

// Call returns the result of an operation, or a *DelegationError.
func (d *Delegation) Call(ctx context.Context, op string, body any) (json.RawMessage, error) {
	audience, err := d.audienceOf(ctx)
	if err != nil {
		return nil, err
	}
	sent, jti, err := d.envelope.Seal(d.clientID, audience, op, body)
	if err != nil {
		return nil, err
	}
	text, err := d.send(ctx, http.MethodPost, sent)
	if err != nil {
		return nil, err
	}
	status, result, err := d.envelope.Open(d.clientID, audience, sent, jti, string(text), time.Now())
	if err == nil && status != http.StatusOK {
		err = failure(result, status)
	}
	return result, err
}

func (d *Delegation) audienceOf(ctx context.Context) (string, error) {
	var found struct {
		Issuer    string
		ProjectID string `json:"project_id"`
		ClientID  string `json:"client_id"`
	}
	text, err := d.send(ctx, http.MethodGet, "")
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return "", err
	}
	if found.ClientID != d.clientID {
		return "", errors.New("the key belongs to another client")
	}
	return found.Issuer + "/" + found.ProjectID, nil
}

func (d *Delegation) send(ctx context.Context, method, text string) ([]byte, error) {
	asked, err := http.NewRequestWithContext(ctx, method, d.url, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	asked.Header.Set("X-Api-Key", d.apiKey)
	asked.Header.Set("Content-Type", "application/jose")
	response, err := d.client.Do(asked)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBytes))
	if err == nil && response.StatusCode != http.StatusOK {
		err = failure(body, response.StatusCode)
	}
	return body, err
}

func failure(body []byte, status int) error {
	var found struct{ Error DelegationError }
	if json.Unmarshal(body, &found) != nil || found.Error.Code == "" {
		return &DelegationError{Code: "RESPONSE_INVALID", Message: fmt.Sprintf("HTTP %d", status)}
	}
	return &found.Error
}

func encoded(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func part(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	return encoded(text)
}

// thumbprint is that of RFC 7638 and RFC 8037 section 2.
func thumbprint(curve string, key []byte) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf(`{"crv":"%s","kty":"OKP","x":"%s"}`, curve, encoded(key))))
	return encoded(sum[:])
}

// derived is AES-256-GCM with the key of the Concat KDF (RFC 7518 section 4.6.2) without apu and apv.
func derived(private, public []byte) (cipher.AEAD, error) {
	secret, err := curve25519.X25519(private, public)
	if err != nil {
		return nil, err
	}
	text := append([]byte{0, 0, 0, 1}, secret...)
	text = append(text, "\x00\x00\x00\x07A256GCM\x00\x00\x00\x00\x00\x00\x00\x00"...)
	key := sha256.Sum256(binary.BigEndian.AppendUint32(text, 256))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
