import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { auth } from 'express-openid-connect';

/** A session store with express-session's interface, as needed for back-channel logout. */
class MemoryStore {
  private readonly entries = new Map<string, unknown>();

  get(id: string, done: (error: unknown, value?: unknown) => void): void {
    done(null, this.entries.get(id));
  }

  set(id: string, value: unknown, done?: (error?: unknown) => void): void {
    this.entries.set(id, value);
    done?.();
  }

  destroy(id: string, done?: (error?: unknown) => void): void {
    this.entries.delete(id);
    done?.();
  }
}

/** The relying party's key, registered at its client. */
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
export const expressAppJwk = publicKey.export({ format: 'jwk' });

/** express-openid-connect as relying party and receiver of logout tokens. */
export function expressApp(origin: string, issuer: string, clientId: string): RequestListener {
  const app = express();
  app.use(
    auth({
      issuerBaseURL: issuer,
      baseURL: origin,
      clientID: clientId,
      clientAuthMethod: 'private_key_jwt',
      clientAssertionSigningKey: privateKey,
      clientAssertionSigningAlg: 'Ed25519',
      secret: 'a secret that only this relying party uses',
      idTokenSigningAlg: 'ES512',
      authRequired: false,
      idpLogout: true,
      authorizationParams: { response_type: 'code', scope: 'openid profile email' },
      backchannelLogout: { store: new MemoryStore() as never },
    }),
  );
  app.get('/', (req, res) => {
    res.json(req.oidc.isAuthenticated() ? req.oidc.user : null);
  });
  return app;
}
