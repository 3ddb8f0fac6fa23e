import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** An SP at `origin`, with the metadata of its identity provider. */
export interface Setup {
  port: string;
  origin: string;
  idpMetadata: string;
  /** Entity ID of the identity provider. */
  idp: string;
}

interface Running {
  process: ChildProcess;
  /** Ends further processes, and removes the folder. */
  clear(): void;
}

/** A SAML service provider from outside npm. */
export interface SamlProvider {
  name: string;
  /** Page that needs a sign-in, and shows the claims in its text or in the header `X-Claims`. */
  login: string;
  /** Begins its logout. */
  logout: string;
  /** Path at which its logout ends. */
  end: string;
  /** Path of its metadata. */
  metadata: string;
  /** The software that this machine lacks; null: none. */
  lacks(): string | null;
  start(setup: Setup): Running;
}

/** A temporary folder with these files. */
export function folderOf(files: Record<string, string>): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-interop-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Writes `sp.key` and the self-signed certificate `sp.pem`. */
export function makeCertificate(folder: string): void {
  const request = 'req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=sp -keyout sp.key -out sp.pem';
  execFileSync('openssl', request.split(' '), { cwd: folder, stdio: 'pipe' });
}

/** Folder of Apache's modules. */
export const apacheModules = process.env['APACHE_MODULES'] ?? '/usr/lib/apache2/modules';

/** A server with the pages `/` and `/private/`. @param name of the module that protects it */
export function apacheConfiguration({ port }: Setup, folder: string, name: string): string {
  const loaded = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'headers'];
  return `
ServerName 127.0.0.1:${port}
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog "|/bin/cat"
Listen 127.0.0.1:${port}
UseCanonicalName On
${[...loaded, name].map((one) => `LoadModule ${moduleOf(one)} ${apacheModules}/mod_${one}.so`).join('\n')}
DocumentRoot ${folder}/www
DirectoryIndex index.html
<Directory ${folder}/www>
  Require all granted
</Directory>
`;
}

function moduleOf(name: string): string {
  return name === 'shib' ? 'mod_shib' : `${name}_module`;
}

export const apachePages = { 'www/index.html': 'null', 'www/private/index.html': 'null' };
