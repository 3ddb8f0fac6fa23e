// go-oidc with x/oauth2, at their defaults: client_secret_basic, RS256; PKCE by parameters.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

func main() {
	origin := os.Getenv("ORIGIN")
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  origin + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		log.Fatal(err)
	}
	secret := base64.RawURLEncoding.EncodeToString(random)
	sum := sha256.Sum256([]byte(secret))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])

	// One user at a time.
	var idToken string
	var claims map[string]interface{}

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(claims)
	})
	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, config.AuthCodeURL("of this sign-in",
			oauth2.SetAuthURLParam("code_challenge", challenge),
			oauth2.SetAuthURLParam("code_challenge_method", "S256")), http.StatusFound)
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		token, err := config.Exchange(ctx, r.URL.Query().Get("code"), oauth2.SetAuthURLParam("code_verifier", secret))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		idToken, _ = token.Extra("id_token").(string)
		if _, err := verifier.Verify(ctx, idToken); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err == nil {
			err = info.Claims(&claims)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		http.Redirect(w, r, "/", http.StatusFound)
	})
	http.HandleFunc("/logout", func(w http.ResponseWriter, r *http.Request) {
		claims = nil
		var endpoints struct {
			EndSession string `json:"end_session_endpoint"`
		}
		if err := provider.Claims(&endpoints); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		query := url.Values{"id_token_hint": {idToken}, "post_logout_redirect_uri": {origin + "/"}}
		http.Redirect(w, r, endpoints.EndSession+"?"+query.Encode(), http.StatusFound)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
