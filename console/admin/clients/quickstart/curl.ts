import type { Snippet } from '../../ui/code/snippets.tsx';
import { clientIdOf, issuerOf, marked, proofOf, redirectUriOf, type SnippetValues } from './values.ts';

/** A manual sign-in in a shell. */
export function curl(values: SnippetValues): Snippet {
  const redirect = redirectUriOf(values);
  const proof = proofOf(values);
  const assertion = `
# 4. Authenticate the client: a JWT valid for a minute, signed with its private key
b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
NOW=$(date +%s)
HEAD=$(printf '{"alg":"EdDSA"}' | b64)
BODY=$(printf '{"iss":"%s","sub":"%s","aud":"%s","jti":"%s","iat":%s,"exp":%s}' \\
  '${clientIdOf(values)}' '${clientIdOf(values)}' '${issuerOf(values)}' "$(openssl rand -hex 16)" "$NOW" "$((NOW + 60))" | b64)
printf %s "$HEAD.$BODY" > assertion.txt
ASSERTION="$HEAD.$BODY.$(openssl pkeyutl -sign -rawin -inkey client-key.private.pem -in assertion.txt | b64)"
`;
  const auth = {
    none: `  -d client_id=${clientIdOf(values)} \\`,
    secret: `  -d client_id=${clientIdOf(values)} \\
  -d client_secret="$CLIENT_SECRET" \\`,
    key: `  -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \\
  -d client_assertion="$ASSERTION" \\`,
  }[proof];
  return {
    label: 'curl',
    code: `# 1. A verifier, and its challenge
VERIFIER=$(openssl rand -base64 48 | tr '+/' '-_' | tr -d '=\\n')
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=\\n')

# 2. Open this in a browser, and sign in
echo "${issuerOf(values)}/authorize?response_type=code&client_id=${clientIdOf(values)}&redirect_uri=${marked(values, encodeURIComponent(redirect))}&scope=openid%20email&code_challenge=$CHALLENGE&code_challenge_method=S256&state=1"

# 3. The browser returns with ?code=… in its address: paste the code within 60 seconds
read -r -p 'code: ' CODE
${proof === 'key' ? assertion : ''}
curl ${issuerOf(values)}/oauth2/token \\
  -d grant_type=authorization_code \\
${auth}
  --data-urlencode redirect_uri='${marked(values, redirect.replaceAll("'", "'\\''"))}' \\
  -d code_verifier="$VERIFIER" \\
  -d code="$CODE"`,
  };
}
