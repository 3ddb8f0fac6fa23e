import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Folder of the Go libraries' sources in Debian's packages. */
const gopath = process.env['GOPATH'] ?? '/usr/share/gocode';

/** Debian's Python, which has Debian's packages; else the one in PATH. */
export const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

/** The reason why a command fails; null if it succeeds. */
export function fault(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): string | null {
  try {
    execFileSync(command, args, { stdio: 'pipe', timeout: 60_000, env });
    return null;
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: Buffer };
    if (code === 'ENOENT') return `${command} is not installed`;
    const lines = stderr?.toString().trim().split('\n') ?? [];
    return (
      lines.find((line) => /cannot (load|find)|no module named/i.test(line)) ?? lines.at(-1) ?? `${command} failed`
    );
  }
}

/** Packages of Debian are folders of a GOPATH, without modules. */
function goEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, GO111MODULE: 'off', GOPATH: gopath };
}

/** The first fault of these Go packages on this machine; null: none. */
export const lacksGo = (...packages: string[]) => fault('go', ['list', ...packages], goEnvironment());

/**
 * Builds a program. Debian 12 has version 2 of go-oidc, which programs import as version 3: the parts that they use are the same.
 */
export function goProgram(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-go-'));
  const env = goEnvironment();
  const of2 = join(gopath, 'src/github.com/coreos/go-oidc');
  if (existsSync(of2) && !existsSync(join(of2, 'v3'))) {
    const library = join(folder, 'path/src/github.com/coreos/go-oidc');
    for (const copy of [library, join(library, 'v3/oidc')]) cpSync(of2, copy, { recursive: true });
    env['GOPATH'] = [join(folder, 'path'), gopath].join(delimiter);
  }
  for (const [at, file] of files.entries()) cpSync(file, join(folder, `${at}.go`));
  execFileSync('go', ['build', '-o', 'app', ...files.map((_, at) => `${at}.go`)], { cwd: folder, env, stdio: 'pipe' });
  return join(folder, 'app');
}
