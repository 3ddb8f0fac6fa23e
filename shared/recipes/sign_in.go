package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func main() {
	provider, err := oidc.NewProvider(context.Background(), os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	app := oauth2.Config{
		ClientID: os.Getenv("CLIENT_ID"), ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint: provider.Endpoint(), RedirectURL: os.Getenv("REDIRECT_URI"), Scopes: []string{"openid", "email"},
	}
	tokens := provider.Verifier(&oidc.Config{ClientID: app.ClientID, SupportedSigningAlgs: []string{"RS256"}})

	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		random := make([]byte, 32)
		rand.Read(random)
		verifier := base64.RawURLEncoding.EncodeToString(random)
		sum := sha256.Sum256([]byte(verifier))
		// PKCE binds the code to this browser, also against CSRF. With https, add Secure: true.
		http.SetCookie(w, &http.Cookie{Name: "verifier", Value: verifier, HttpOnly: true, SameSite: http.SameSiteLaxMode})
		challenge := oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
		http.Redirect(w, r, app.AuthCodeURL("", challenge, oauth2.SetAuthURLParam("code_challenge_method", "S256")), 303)
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		verifier, _ := r.Cookie("verifier")
		if verifier == nil {
			verifier = &http.Cookie{}
		}
		token, err := app.Exchange(r.Context(), r.FormValue("code"), oauth2.SetAuthURLParam("code_verifier", verifier.Value))
		if err != nil {
			http.Error(w, "The sign-in failed: start again at /login.", http.StatusBadRequest)
			return
		}
		var claims struct{ Sub, Email string }
		if idToken, err := tokens.Verify(r.Context(), fmt.Sprint(token.Extra("id_token"))); err != nil || idToken.Claims(&claims) != nil {
			http.Error(w, "The ID token is not valid.", http.StatusBadRequest)
			return
		}
		json.NewEncoder(w).Encode(claims) // Begin your own session here, for claims.Sub.
	})
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
