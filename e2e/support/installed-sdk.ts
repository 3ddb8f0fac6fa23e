import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** An application's folder with only the packed SDK installed. */
export class InstalledSdk {
  readonly folder = mkdtempSync(join(tmpdir(), 'latchkey-sdk-'));
  readonly package = join(this.folder, 'node_modules/@latchkey/browser');

  constructor() {
    const pack = [join(root, '.config/pack.mjs'), 'browser', this.folder];
    const tarball = execFileSync(process.execPath, pack, { encoding: 'utf8' }).trim();
    execFileSync('tar', ['xzf', tarball, '-C', this.folder]);
    mkdirSync(this.package, { recursive: true });
    cpSync(join(this.folder, 'package'), this.package, { recursive: true });
    this.write('package.json', '{ "type": "module", "private": true }');
  }

  get readme(): string {
    return readFileSync(join(this.package, 'README.md'), 'utf8');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
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
