/** HTTPS sites with separate host names, for browsers that map these names to one port of this machine. */
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type RequestListener, request } from 'node:http';
import { createServer } from 'node:https';

/** A certificate for `login.example.com`, `shop.example.net` and `forum.example.org`, and its key. For tests only. */
export const testCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHgCHpu9Lb3q/ickb
hL0mUGEiEJBJFJDaG2jE+TkSQCuhRANCAAQNxko0N+iFAMNnSLix6WPyXVhuZ6+L
H7az+BXDro4uEQMNpppBn2mX7LfvTlFx2Me5zLnl2vTqSwoXxVcgeFbQ
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBzzCCAXSgAwIBAgIUUbiZLNWCdKAiEPfn0io/yuQPdecwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwObGF0Y2hrZXkgdGVzdHMwIBcNMjYxMTIzMDk0NjM0WhgPMjEy
NjEwMzAwOTQ2MzRaMBkxFzAVBgNVBAMMDmxhdGNoa2V5IHRlc3RzMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEDcZKNDfohQDDZ0i4selj8l1Ybmevix+2s/gVw66O
LhEDDaaaQZ9pl+y3705RcdjHucy55dr06ksKF8VXIHhW0KOBlzCBlDAdBgNVHQ4E
FgQUGOYqS2mMXPjiqWYFuCam2h03DBkwHwYDVR0jBBgwFoAUGOYqS2mMXPjiqWYF
uCam2h03DBkwDwYDVR0TAQH/BAUwAwEB/zBBBgNVHREEOjA4ghFsb2dpbi5leGFt
cGxlLmNvbYIQc2hvcC5leGFtcGxlLm5ldIIRZm9ydW0uZXhhbXBsZS5vcmcwCgYI
KoZIzj0EAwIDSQAwRgIhAO9lyCaqa6BlbFWDWK1IUfDxd8SqqWz/DxH37zb3pyrp
AiEA/6so8HDTXMNlBEva7JfsZkDcetE4osJn8qKf4gSraEg=
-----END CERTIFICATE-----`,
};

/** Chromium's arguments: the names lead to the port, and the certificate counts as valid. */
export function argumentsFor(hosts: readonly string[], port: number): string[] {
  const spki = new X509Certificate(testCertificate.cert).publicKey.export({ type: 'spki', format: 'der' });
  const hash = createHash('sha256').update(spki).digest('base64');
  // WebAuthn reads /.well-known/webauthn at the default port.
  const rules = hosts.map((host) => `MAP ${host}:443 127.0.0.1:${port}`);
  return [`--host-resolver-rules=${rules.join(', ')}`, `--ignore-certificate-errors-spki-list=${hash}`];
}

/** Serves each host by its listener. */
export async function serveSites(port: number, sites: Record<string, RequestListener>): Promise<() => void> {
  const server = createServer(testCertificate, (req, res) => {
    const listener = sites[req.headers.host ?? ''];
    if (listener) listener(req, res);
    else res.writeHead(421).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/** Passes requests on to a server at `url`, as a reverse proxy does. */
export function proxyTo(url: string): RequestListener {
  const { hostname, port } = new URL(url);
  return (req, res) => {
    const { method, url: path, headers } = req;
    const passed = request({ hostname, port, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    passed.on('error', () => res.destroy());
    req.pipe(passed);
  };
}
