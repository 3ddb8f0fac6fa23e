import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** An application's folder in which the packages were installed from a running Latchkey. */
export class InstalledSdk {
  readonly folder = mkdtempSync(join(tmpdir(), 'latchkey-sdk-'));
  /** Addresses of the packages. */
  readonly addresses: string[];

  constructor(baseUrl: string) {
    const { version } = JSON.parse(readFileSync(join(root, 'shared/browser/package.json'), 'utf8')) as {
      version: string;
    };
    const address = (name: string) => `${baseUrl}/sdk/latchkey-${name}-${version}.tgz`;
    this.addresses = ['browser', 'node', 'react'].map(address);
    const manifest = {
      type: 'module',
      private: true,
      dependencies: {
        '@latchkey/browser': address('browser'),
        '@latchkey/node': address('node'),
        '@latchkey/react': address('react'),
        // Peers of @latchkey/react.
        ...Object.fromEntries(['react', 'react-dom'].map((name) => [name, `file:${join(root, 'node_modules', name)}`])),
      },
      // Needs no registry: the other packages are local.
      overrides: Object.fromEntries(
        ['jose', 'scheduler'].map((name) => [name, `file:${join(root, 'node_modules', name)}`]),
      ),
    };
    this.write('package.json', JSON.stringify(manifest));
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--registry', 'http://127.0.0.1:1'];
    execFileSync('npm', ['install', ...quiet], { cwd: this.folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  get readme(): string {
    return this.readmeOf('browser');
  }

  readmeOf(name: string): string {
    return readFileSync(join(this.folder, 'node_modules/@latchkey', name, 'README.md'), 'utf8');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs a program in the folder and returns its output. */
  run(program: string, kind: 'module' | 'commonjs'): string {
    const args = [`--input-type=${kind}`, '-e', program];
    return execFileSync(process.execPath, args, { cwd: this.folder, encoding: 'utf8' }).trim();
  }

  /** Builds index.html with Vite, for production, into `dist`. */
  build(): void {
    const vite = join(root, 'node_modules/vite/bin/vite.js');
    execFileSync(process.execPath, [vite, 'build', '--base', './', '--logLevel', 'warn'], {
      cwd: this.folder,
      stdio: 'inherit',
    });
  }

  /** Serves the folder. */
  readonly listener: RequestListener = (req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://any');
    try {
      const file = readFileSync(join(this.folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname));
      const type = types[extname(pathname)] ?? 'text/html';
      res.writeHead(200, { 'Content-Type': type }).end(file);
    } catch {
      res.writeHead(404).end();
    }
  };

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
