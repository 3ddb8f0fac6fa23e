import type { Snippet } from '../../ui/code/snippets.tsx';

export interface ProtectedApi {
  issuer: string;
  identifier: string;
  metadataUrl: string;
  scopes: readonly { key: string }[];
}

/** An MCP server that accepts only tokens for the API; values of this API are between ‹ and ›. */
export function snippetsOfApi(api: ProtectedApi): Snippet[] {
  return [typeScript(api), python(api)];
}

const firstScope = ({ scopes: [first] }: ProtectedApi) => first?.key ?? '';
const pathOf = (address: string) => new URL(address).pathname;

/** With @modelcontextprotocol/sdk 1.32. */
function typeScript(api: ProtectedApi): Snippet {
  return {
    label: 'TypeScript',
    code: `// npm install @modelcontextprotocol/sdk express jose
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import express from 'express';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import metadata from './protected-resource.json' with { type: 'json' };

const issuer = '‹${api.issuer}›';
const resource = '‹${api.identifier}›';
const keys = createRemoteJWKSet(new URL(\`\${issuer}/.well-known/jwks.json\`));

const verifier = {
  async verifyAccessToken(token: string) {
    const expected = { issuer, audience: resource, typ: 'at+jwt', algorithms: ['ES256'] };
    const { payload } = await jwtVerify(token, keys, expected).catch(() => {
      throw new InvalidTokenError('The token is not valid');
    });
    return {
      token,
      clientId: String(payload['client_id']),
      scopes: String(payload['scope'] ?? '').split(' '),
      expiresAt: payload.exp,
      extra: { userId: payload.sub },
    };
  },
};

/** Requires a token with all of these scopes, which the challenge asks for. */
const needs = (...requiredScopes: string[]) =>
  requireBearerAuth({ verifier, requiredScopes, resourceMetadataUrl: '‹${api.metadataUrl}›' });

const app = express();
app.get('‹${pathOf(api.metadataUrl)}›', (_req, res) => void res.json(metadata));
app.use('‹${pathOf(api.identifier)}›', needs('‹${firstScope(api)}›'));
// Then the transport of the MCP server; req.auth has what verifyAccessToken returned.
`,
  };
}

/** With mcp 2.3 of PyPI. */
function python(api: ProtectedApi): Snippet {
  return {
    label: 'Python',
    code: `# pip install "mcp>=2.3" "pyjwt[crypto]"
import asyncio

import jwt
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

ISSUER = "‹${api.issuer}›"
RESOURCE = "‹${api.identifier}›"
keys = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json")


class Verifier(TokenVerifier):
    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            if jwt.get_unverified_header(token).get("typ") != "at+jwt":
                return None
            key = await asyncio.to_thread(keys.get_signing_key_from_jwt, token)
            required = {"require": ["iss", "aud", "exp", "sub"]}
            claims = jwt.decode(token, key, ["ES256"], required, issuer=ISSUER, audience=RESOURCE)
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims.get("scope", "").split(),
            expires_at=claims["exp"],
            resource=claims["aud"],
            subject=claims["sub"],
        )


# Serves the metadata, and sends clients there.
mcp = MCPServer(
    "server",
    token_verifier=Verifier(),
    auth=AuthSettings(
        issuer_url=ISSUER,
        resource_server_url=RESOURCE,
        validate_token_resource=True,
        required_scopes=["‹${firstScope(api)}›"],
    ),
)


if __name__ == "__main__":
    mcp.run(transport="streamable-http")
`,
  };
}
