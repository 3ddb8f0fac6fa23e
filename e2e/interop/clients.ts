import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fault, goProgram, lacksGo, python } from '../support/toolchains.ts';

/** The settings that an administrator copies into an application, and its address. */
interface Registration {
  ISSUER: string;
  CLIENT_ID: string;
  CLIENT_SECRET: string;
  PORT: string;
  ORIGIN: string;
  REDIRECT_URI: string;
  SESSION_SECRET: string;
}

/** An application built with a library or module that is no dependency of this repository. */
export interface InteropClient {
  name: string;
  /** Path of its redirect URI. */
  callback: string;
  login: string;
  /** Null: it has no session. */
  logout: string | null;
  /** Path of its receiver of logout tokens, if it has one. */
  backChannel?: string;
  /** Reads the user from the last page of the sign-in, or with it. Default: the page. */
  reads?(page: string, address: URL): Promise<string>;
  /** False: it keeps the user name alone. */
  showsSub?: boolean;
  /** Whether it uses PKCE at its defaults. */
  pkce: boolean;
  /** The software that this machine lacks; null: none. */
  lacks(): string | null | Promise<string | null>;
  start(registration: Registration): { process: ChildProcess; clear(): void };
}

const apps = join(import.meta.dirname, 'apps');
const modules = process.env['APACHE_MODULES'] ?? '/usr/lib/apache2/modules';
const recipes = fileURLToPath(new URL('../../shared/recipes', import.meta.url));

const environment = (registration: Registration): NodeJS.ProcessEnv => ({ ...process.env, ...registration });

export const clients: readonly InteropClient[] = [
  {
    name: 'Authlib (Flask)',
    callback: '/callback',
    login: '/login',
    logout: '/logout',
    pkce: false,
    lacks: () => fault(python, ['-c', 'import authlib, flask, requests']),
    start: (registration) => pythonApp(join(apps, 'authlib_app.py'), registration),
  },
  {
    name: 'Authlib (FastAPI)',
    ...{ callback: '/callback', login: '/account', logout: '/logout', pkce: true },
    lacks: () => fault(python, ['-c', 'import authlib, fastapi, httpx, itsdangerous, uvicorn']),
    start: (registration) => pythonApp(join(recipes, 'fastapi_app.py'), registration),
  },
  {
    name: 'Authlib (Django)',
    ...{ callback: '/callback', login: '/login', logout: '/logout', pkce: true },
    lacks: () => fault(python, ['-c', 'import authlib, django, requests']),
    start: (registration) => pythonApp(join(apps, 'django_app.py'), registration),
  },
  {
    name: 'go-oidc with x/oauth2',
    callback: '/callback',
    login: '/login',
    logout: '/logout',
    pkce: true,
    lacks: () => lacksGo('github.com/coreos/go-oidc', 'golang.org/x/oauth2'),
    start: (registration) => goApp(join(apps, 'go_oidc.go'), registration),
  },
  {
    name: 'go-oidc with net/http',
    ...{ callback: '/callback', login: '/login', logout: null, pkce: true },
    lacks: () => lacksGo('github.com/coreos/go-oidc', 'golang.org/x/oauth2'),
    start: (registration) => goApp(join(recipes, 'sign_in.go'), registration),
  },
  {
    name: 'Apache mod_auth_openidc',
    callback: '/private/redirect',
    login: '/private/',
    logout: '/private/redirect?logout=ORIGIN%2F',
    backChannel: '/private/redirect?logout=backchannel',
    pkce: false,
    lacks: () =>
      fault('apache2', ['-v']) ??
      (existsSync(join(modules, 'mod_auth_openidc.so')) ? null : 'mod_auth_openidc is not installed'),
    start: (registration) => {
      const folder = mkdtempSync(join(tmpdir(), 'latchkey-interop-'));
      mkdirSync(join(folder, 'www/private'), { recursive: true });
      for (const page of ['www/index.html', 'www/private/index.html']) writeFileSync(join(folder, page), 'null');
      writeFileSync(join(folder, 'apache2.conf'), apacheConfiguration(registration, folder));
      return {
        process: spawn('apache2', ['-X', '-d', folder, '-f', join(folder, 'apache2.conf')], { stdio: 'pipe' }),
        clear: () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  {
    name: 'omniauth-openid-connect',
    callback: '/auth/latchkey/callback',
    login: '/auth/latchkey',
    logout: '/logout',
    pkce: false,
    lacks: () => fault('ruby', ['-e', 'require "omniauth_openid_connect"; require "puma"']),
    start: (registration) => ({
      process: spawn('puma', ['-b', `tcp://127.0.0.1:${registration.PORT}`, join(apps, 'omniauth.ru')], {
        env: environment(registration),
        stdio: 'pipe',
      }),
      clear: () => undefined,
    }),
  },
];

function pythonApp(file: string, registration: Registration): ReturnType<InteropClient['start']> {
  const process = spawn(python, [file], { env: environment(registration), stdio: 'pipe' });
  return { process, clear: () => undefined };
}

function goApp(file: string, registration: Registration): ReturnType<InteropClient['start']> {
  const program = goProgram(file);
  return {
    process: spawn(program, { env: environment(registration), stdio: 'pipe' }),
    clear: () => rmSync(dirname(program), { recursive: true, force: true }),
  };
}

/** The documented minimum; the claims are shown in a header. */
function apacheConfiguration(registration: Registration, folder: string): string {
  const loaded = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'headers', 'auth_openidc'];
  return `
ServerName localhost
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog "|/bin/cat"
Listen 127.0.0.1:${registration.PORT}
${loaded.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
DocumentRoot ${folder}/www
DirectoryIndex index.html
<Directory ${folder}/www>
  Require all granted
</Directory>
OIDCProviderMetadataURL ${registration.ISSUER}/.well-known/openid-configuration
OIDCClientID ${registration.CLIENT_ID}
OIDCClientSecret ${registration.CLIENT_SECRET}
OIDCRedirectURI ${registration.ORIGIN}/private/redirect
OIDCCryptoPassphrase "of this application alone"
OIDCScope "openid email profile"
<Location /private>
  AuthType openid-connect
  Require valid-user
  Header always set X-Claims "%{OIDC_CLAIM_sub}e %{OIDC_CLAIM_email}e"
</Location>
`;
}
